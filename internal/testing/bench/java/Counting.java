import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.store.BufferedIndexInput;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;

/** A directory that counts the bytes asked of the file system, in reads of Lucene's own buffer size. */
final class Counting extends FilterDirectory {
    private final AtomicLong read = new AtomicLong();

    Counting(FSDirectory files) {
        super(files);
    }

    long read() {
        return read.get();
    }

    @Override
    public IndexInput openInput(String name, IOContext context) throws IOException {
        return new Input(super.openInput(name, context), 0, -1);
    }

    private final class Input extends BufferedIndexInput {
        private final IndexInput file;
        private final long start;
        private final long length;

        Input(IndexInput file, long start, long length) {
            super("counting " + file, BUFFER_SIZE);
            this.file = file;
            this.start = start;
            this.length = length < 0 ? file.length() : length;
        }

        @Override
        protected void readInternal(ByteBuffer into) throws IOException {
            int wanted = into.remaining();
            byte[] bytes = new byte[wanted];
            IndexInput own = file.clone();
            own.seek(start + getFilePointer());
            own.readBytes(bytes, 0, wanted, false);
            into.put(bytes);
            read.addAndGet(wanted);
        }

        @Override
        protected void seekInternal(long position) {}

        @Override
        public IndexInput slice(String name, long offset, long size) {
            return new Input(file, start + offset, size);
        }

        @Override
        public BufferedIndexInput clone() {
            Input copy = new Input(file, start, length);
            try {
                copy.seek(getFilePointer());
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
            return copy;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public void close() {}
    }
}
