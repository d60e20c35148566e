import java.io.File;
import java.io.FileWriter;
import java.io.PrintWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.NIOFSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Writes the test indexes of ../written and ../wide with one release of Lucene,
 * 4.2 to 10.x; what differs between releases is called by reflection. Beside an
 * index of ../written stands expected.txt: each document's state and columns.
 *
 *   java -cp lucene-core-VERSION.jar:. WriteIndex FOLDER DOCUMENTS OPTIONS
 *
 * OPTIONS are letters: c compound files, d delete every seventh document (with 1:
 * only number 3), u update the column upd in two commits, s soft-delete every
 * ninth document in two commits, f three segments, m merge them into one,
 * x no columns; w many blocks for ../wide (with r: the column rare alone).
 */
public class WriteIndex {
  static final String[] COLUMNS = {
    "id", "gcd", "sparse", "const", "table", "wide", "blocks", "rare", "one",
    "extreme", "b12", "b20", "b28", "b40", "sconst", "upd", "b1", "neg"
  };
  static final int UPD = 15;
  static final Random random = new Random(7);
  static String options;

  static boolean option(char letter) {
    return options.indexOf(letter) >= 0;
  }

  public static void main(String[] args) throws Exception {
    File folder = new File(args[0]);
    int documents = Integer.parseInt(args[1]);
    options = args[2];
    folder.mkdirs();
    Directory directory = open(folder);
    IndexWriter writer = new IndexWriter(directory, config());
    if (option('w')) {
      addWide(writer, documents);
    } else {
      String[] state = new String[documents];
      Long[][] values = add(writer, state);
      change(writer, state, values);
      expect(new File(folder, "expected.txt"), state, values);
    }
    writer.close();
    directory.close();
  }

  static Directory open(File folder) throws Exception {
    for (Constructor<?> c : NIOFSDirectory.class.getConstructors()) {
      if (c.getParameterTypes().length == 1) {
        boolean old = c.getParameterTypes()[0] == File.class;
        return (Directory) c.newInstance(old ? folder : folder.toPath());
      }
    }
    throw new AssertionError("no constructor");
  }

  static IndexWriterConfig config() throws Exception {
    IndexWriterConfig config = null;
    for (Constructor<?> c : IndexWriterConfig.class.getConstructors()) {
      Class<?>[] takes = c.getParameterTypes();
      if (takes.length == 2) { // Lucene 4: the version, then the analyzer
        Object version = null;
        for (java.lang.reflect.Field f : takes[0].getFields()) {
          if (f.getName().equals("LATEST") || (version == null && f.getName().equals("LUCENE_CURRENT"))) {
            version = f.get(null);
          }
        }
        config = (IndexWriterConfig) c.newInstance(version, null);
      } else if (takes.length == 1) {
        config = (IndexWriterConfig) c.newInstance((Object) null);
      }
    }
    LogDocMergePolicy log = new LogDocMergePolicy(); // keeps documents in order
    call(log, "setNoCFSRatio", option('c') ? 1.0 : 0.0);
    call(log, "setUseCompoundFile", option('c'));
    call(config, "setUseCompoundFile", option('c'));
    call(config, "setRAMBufferSizeMB", 500.0);
    MergePolicy policy = log;
    if (option('s')) {
      call(config, "setSoftDeletesField", "__soft_deletes");
      final Object all = Class.forName("org.apache.lucene.search.MatchAllDocsQuery").getConstructor().newInstance();
      Supplier<Object> retained = () -> all;
      policy = (MergePolicy) Class.forName("org.apache.lucene.index.SoftDeletesRetentionMergePolicy")
          .getConstructors()[0].newInstance("__soft_deletes", retained, log);
    }
    call(config, "setMergePolicy", policy);
    return config;
  }

  /** Calls a public method of the name, if this release has one. */
  static void call(Object target, String name, Object... args) throws Exception {
    for (Method m : target.getClass().getMethods()) {
      if (m.getName().equals(name) && m.getParameterTypes().length == args.length) {
        m.invoke(target, args);
        return;
      }
    }
  }

  static Long[][] add(IndexWriter writer, String[] state) throws Exception {
    Long[][] values = new Long[state.length][COLUMNS.length];
    for (int i = 0; i < state.length; i++) {
      state[i] = "live";
      Document doc = new Document();
      doc.add(new StringField("key", "k" + i, Field.Store.YES));
      for (int j = 0; j < COLUMNS.length && !option('x'); j++) {
        values[i][j] = value(COLUMNS[j], i, state.length);
        if (values[i][j] != null) {
          doc.add(new NumericDocValuesField(COLUMNS[j], values[i][j]));
        }
      }
      if (!option('x')) {
        addOthers(doc, i);
      }
      writer.addDocument(doc);
      if (option('f') && i % (state.length / 3 + 1) == state.length / 3) {
        writer.commit();
      }
    }
    writer.commit();
    return values;
  }

  static Long value(String column, int i, int documents) {
    switch (column) {
      case "id": return (long) i;
      case "gcd": return 1000L * (i * 37 % 1001) + 5;
      case "sparse": return i % 3 == 1 || (i > 70000 && i < 75000) ? Long.valueOf(random.nextLong()) : null;
      case "const": return 42L;
      case "table": return new long[] {-5, 1000000007L, 77, 1L << 40}[random.nextInt(4)];
      case "wide": return random.nextLong();
      case "blocks": return (long) (random.nextDouble() * Math.pow(2, (i / 16384) * 9 + 1));
      case "rare": return i % 977 == 5 ? Long.valueOf(i * 3L - 100) : null;
      case "one": return i == documents / 2 ? Long.valueOf(-9L) : null;
      case "extreme": return new long[] {Long.MIN_VALUE, Long.MAX_VALUE, 0, -1, random.nextLong()}[random.nextInt(5)];
      case "b12": return (long) random.nextInt(4001) - 17;
      case "b20": return (long) random.nextInt(1000003);
      case "b28": return (long) random.nextInt(200000003) - 3;
      case "b40": return random.nextLong() >>> 25;
      case "sconst": return i % 5 != 2 ? Long.valueOf(-77L) : null;
      case "upd": return i % 4 != 1 ? Long.valueOf((long) i * i) : null;
      case "b1": return (long) random.nextInt(2);
      case "neg": return -(long) random.nextInt(300) * 3;
      default: throw new AssertionError(column);
    }
  }

  /** Adds doc values of all other kinds, which a reader of numbers has to skip. */
  static void addOthers(Document doc, int i) throws Exception {
    doc.add(new BinaryDocValuesField("bfix", new BytesRef("abcd")));
    doc.add(new BinaryDocValuesField("bvar", new BytesRef("x" + i * 31 % 1009)));
    if (i % 2 == 0) {
      doc.add(new SortedDocValuesField("sorted", new BytesRef("term" + i % 500)));
    }
    doc.add(new SortedDocValuesField("sortedall", new BytesRef("t" + i)));
    doc.add(new SortedSetDocValuesField("ss1", new BytesRef("s" + i % 90)));
    for (int k = 0; k < i % 3; k++) {
      doc.add(new SortedSetDocValuesField("ss", new BytesRef("s" + (i + k) % 1200)));
    }
    doc.add(new SortedSetDocValuesField("sst", new BytesRef("s7")));
    if (i % 2 == 1) {
      doc.add(new SortedSetDocValuesField("sst", new BytesRef("s0")));
    }
    for (int k = 0; k < i % 3; k++) {
      addNumber(doc, "SortedNumericDocValuesField", null, "sn", (long) i * k);
    }
    addNumber(doc, "SortedNumericDocValuesField", null, "sn1", i);
    addNumber(doc, "NumericDocValuesField", "indexedField", "skip", i);
    addNumber(doc, "SortedNumericDocValuesField", "indexedField", "skipn", i);
  }

  /** Adds a number by a class, or a static method of it, if this release has it. */
  static void addNumber(Document doc, String type, String method, String name, long value) throws Exception {
    try {
      Class<?> c = Class.forName("org.apache.lucene.document." + type);
      doc.add((IndexableField) (method == null
          ? c.getConstructor(String.class, long.class).newInstance(name, value)
          : c.getMethod(method, String.class, long.class).invoke(null, name, value)));
    } catch (ClassNotFoundException | NoSuchMethodException absent) {
      return;
    }
  }

  static void change(IndexWriter writer, String[] state, Long[][] values) throws Exception {
    for (int i = 0; i < state.length && option('d'); i++) {
      if (option('1') ? i == 3 : i % 7 == 3 || (state.length > 1000 && i / 1000 == 4)) {
        writer.deleteDocuments(new Term("key", "k" + i));
        state[i] = "deleted";
      }
    }
    writer.commit();
    for (int commit = 0; commit < 2 && option('u'); commit++) {
      for (int i = commit; i < state.length; i += 11 + commit) {
        values[i][UPD] = i * 5L + commit;
        call(writer, "updateNumericDocValue", new Term("key", "k" + i), "upd", values[i][UPD]);
      }
      writer.commit();
    }
    for (int commit = 0; commit < 2 && option('s'); commit++) {
      for (int i = commit + 1; i < state.length; i += 9) {
        if (state[i].equals("live")) {
          Document replacement = new Document();
          replacement.add(new StringField("key", "n" + i, Field.Store.YES));
          call(writer, "softUpdateDocument", new Term("key", "k" + i), replacement,
              new Field[] {new NumericDocValuesField("__soft_deletes", 1)});
          state[i] = "soft";
        }
      }
      writer.commit();
    }
    if (option('m')) {
      writer.forceMerge(1);
      writer.commit();
    }
  }

  static void addWide(IndexWriter writer, int documents) throws Exception {
    for (int i = 0; i < documents; i++) {
      Document doc = new Document();
      int k = i / 3;
      if (!option('r') && i % 3 == 1) {
        doc.add(new NumericDocValuesField("third", 1000L * (k < 16384 ? 5 : k < 32768 ? k % 2 : k % 4096)));
      }
      if (!option('r') && ((i >= 65536 && i < 131072) || i == 150001 || i == 199999)) {
        doc.add(new NumericDocValuesField("run", (long) (i % 2)));
      }
      if (i % 300 == i / 300 * i / 300 % 250) {
        doc.add(new NumericDocValuesField("rare", (long) i));
      }
      writer.addDocument(doc);
    }
    writer.commit();
  }

  static void expect(File file, String[] state, Long[][] values) throws Exception {
    try (PrintWriter out = new PrintWriter(new FileWriter(file))) {
      out.println(option('x') ? "state" : "state " + String.join(" ", COLUMNS));
      for (int i = 0; i < state.length; i++) {
        StringBuilder line = new StringBuilder(state[i]);
        for (int j = 0; j < COLUMNS.length && !option('x'); j++) {
          line.append(' ').append(values[i][j] == null ? "-" : values[i][j].toString());
        }
        out.println(line);
      }
    }
  }
}
