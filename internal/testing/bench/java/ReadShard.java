import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.CRC32;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.StoredFieldVisitor;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;
import org.apache.lucene.util.Bits;

/**
 * Reads the id and the source of every live document of a Lucene directory with Lucene's own reader.
 *
 * <pre>ReadShard DIRECTORY sequential|random|check PASSES [DOCUMENTS]</pre>
 *
 * Prints "first" when the first document was read, then one JSON object a pass. Nothing is collected and nothing is written,
 * so what is measured is the reading; the text is put together without the classes that make a start slow. "check" reads sequentially, sums all ids and sources, and counts the bytes that are
 * read from files.
 */
public final class ReadShard {
    public static void main(String[] args) throws IOException {
        Path path = Path.of(args[0]);
        boolean check = args[1].equals("check");
        int passes = Integer.parseInt(args[2]);
        long limit = args.length > 3 ? Long.parseLong(args[3]) : Long.MAX_VALUE;
        Counting counting = check ? new Counting(new NIOFSDirectory(path)) : null;
        try (Directory directory = check ? counting : new MMapDirectory(path)) {
            for (int pass = 0; pass < passes; pass++) {
                long cpu = passes > 1 ? processCpu() : 0;
                Source source = new Source(check, pass == 0);
                read(directory, source, !args[1].equals("random"), limit);
                cpu = passes > 1 ? processCpu() - cpu : 0;
                StringBuilder line = new StringBuilder("{\"documents\":").append(source.documents);
                line.append(",\"sourceBytes\":").append(source.bytes);
                line.append(",\"sum\":").append(source.sum());
                line.append(",\"cpu\":").append(cpu);
                line.append(",\"read\":").append(check ? counting.read() : 0);
                System.out.println(line.append('}'));
            }
        }
    }

    /**
     * CPU time of the whole process, compiler and collector threads included, in nanoseconds. Asking is not cheap at first:
     * a single pass is timed from outside.
     */
    private static long processCpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static void read(Directory directory, Source source, boolean sequential, long limit) throws IOException {
        try (DirectoryReader reader = new SoftDeletesDirectoryReaderWrapper(DirectoryReader.open(directory), "__soft_deletes")) {
            for (LeafReaderContext leaf : reader.leaves()) {
                CodecReader segment = (CodecReader) leaf.reader();
                Bits live = segment.getLiveDocs();
                StoredFieldsReader fields = segment.getFieldsReader();
                if (sequential) {
                    fields = fields.getMergeInstance();
                }
                for (int number = 0; number < segment.maxDoc() && source.documents < limit; number++) {
                    if (live == null || live.get(number)) {
                        fields.document(number, source);
                        source.finish();
                    }
                }
            }
        }
    }

    /** Takes the two fields of a document; touches first and last byte so that nothing can be optimised away. */
    private static final class Source extends StoredFieldVisitor {
        private final CRC32 crc;
        private boolean announce;
        private byte[] id;
        private byte[] source;
        private long documents;
        private long bytes;
        private long touched;

        Source(boolean check, boolean announce) {
            this.crc = check ? new CRC32() : null;
            this.announce = announce;
        }

        @Override
        public Status needsField(FieldInfo field) {
            return field.name.equals("_source") || field.name.equals("_id") ? Status.YES : Status.NO;
        }

        @Override
        public void binaryField(FieldInfo field, byte[] value) {
            if (field.name.equals("_source")) {
                source = value;
            } else {
                id = value;
            }
        }

        void finish() {
            documents++;
            bytes += source.length;
            touched = touched * 31 + source[0] + source[source.length - 1] + id[id.length - 1];
            if (crc != null) {
                crc.update(text(id).getBytes(StandardCharsets.UTF_8));
                crc.update('\n');
                crc.update(source);
                crc.update('\n');
            }
            if (announce) {
                announce = false;
                System.out.println("first");
                System.out.flush();
            }
        }

        long sum() {
            return crc != null ? crc.getValue() : touched & Integer.MAX_VALUE;
        }
    }

    /**
     * The id as the server shows it: its own ids are URL-safe base 64 and stored as the bytes that this stands for, behind
     * one byte fd where they would else begin with fd, fe or ff.
     */
    private static String text(byte[] id) {
        int from = id[0] == (byte) 0xfd ? 1 : 0;
        return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOfRange(id, from, id.length));
    }
}
