import java.io.*;
import java.nio.file.*;
import java.util.*;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.store.*;

/** Writes one segment with stored fields of every type, small chunks and a large document, and what it stored. */
public class Numbers {
  public static void main(String[] args) throws Exception {
    Directory dir = (Directory) open(args[0]);
    IndexWriterConfig conf = config();
    if (args.length > 1) conf.setCodec((Codec) codec(args[1], args[2]));
    conf.setRAMBufferSizeMB(200);
    IndexWriter writer = new IndexWriter(dir, conf);
    Writer expected = new OutputStreamWriter(new FileOutputStream(args[0] + "/expected-values.txt"), "UTF-8");
    Random random = new Random(3);
    for (int i = 0; i < 700; i++) {
      Document doc = new Document();
      StringBuilder line = new StringBuilder();
      if (i % 50 != 7) {
        String text = i == 500 ? large(random) : "document " + i + " of the segment " + Integer.toHexString(random.nextInt());
        doc.add(new StoredField("text", text)); line.append(" s").append(text.hashCode());
        byte[] bytes = new byte[i % 23]; random.nextBytes(bytes);
        doc.add(new StoredField("bytes", bytes)); line.append(" b").append(Arrays.hashCode(bytes));
        int n = i % 3 == 0 ? i - 300 : random.nextInt();
        doc.add(new StoredField("int", n)); line.append(" i").append(n);
        float f = new float[] {i - 20, random.nextFloat() * 1000, -random.nextFloat(), Float.intBitsToFloat(random.nextInt() & 0x7f7fffff)}[i % 4];
        doc.add(new StoredField("float", f)); line.append(" f").append(Float.floatToRawIntBits(f));
        long l = new long[] {i * 1000L, i * 3600000L, (i - 300) * 86400000L, random.nextLong(), i - 300}[i % 5];
        doc.add(new StoredField("long", l)); line.append(" l").append(l);
        double d = new double[] {i - 20, random.nextFloat(), random.nextDouble(), -random.nextDouble() * 1e99, -(double) random.nextFloat()}[i % 5];
        doc.add(new StoredField("double", d)); line.append(" d").append(Double.doubleToRawLongBits(d));
      }
      writer.addDocument(doc);
      expected.write(line.append("\n").toString());
    }
    expected.close();
    writer.close();
    dir.close();
  }

  static String large(Random random) {
    StringBuilder b = new StringBuilder();
    while (b.length() < 1200000) b.append("a large document repeats itself ").append(b.length() % 90000 < 100 ? random.nextInt() : 0);
    return b.toString();
  }

  static Object open(String path) throws Exception {
    new File(path).mkdirs();
    try { return FSDirectory.class.getMethod("open", Path.class).invoke(null, Paths.get(path)); }
    catch (NoSuchMethodException e) { return FSDirectory.class.getMethod("open", File.class).invoke(null, new File(path)); }
  }

  static IndexWriterConfig config() throws Exception {
    Class<?> analyzer = Class.forName("org.apache.lucene.analysis.Analyzer");
    try { return IndexWriterConfig.class.getConstructor(analyzer).newInstance((Object) null); }
    catch (NoSuchMethodException e) {
      Class<?> version = Class.forName("org.apache.lucene.util.Version");
      Object latest = null;
      for (java.lang.reflect.Field f : version.getFields()) if (f.getName().startsWith("LUCENE_") && !f.getName().contains("CURRENT")) latest = f.get(null);
      return IndexWriterConfig.class.getConstructor(version, analyzer).newInstance(latest, null);
    }
  }

  static Object codec(String name, String mode) throws Exception {
    Class<?> c = Class.forName(name);
    for (java.lang.reflect.Constructor<?> k : c.getConstructors())
      if (k.getParameterCount() == 1 && k.getParameterTypes()[0].isEnum())
        for (Object o : k.getParameterTypes()[0].getEnumConstants())
          if (o.toString().equals(mode)) return k.newInstance(o);
    throw new IllegalArgumentException(name);
  }
}
