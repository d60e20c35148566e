import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.io.schubfach.DoubleToDecimal;
import com.fasterxml.jackson.core.io.schubfach.FloatToDecimal;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.smile.SmileFactory;
import com.fasterxml.jackson.dataformat.smile.SmileGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.ning.compress.lzf.LZFEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Writes the test data of package xcontent with Jackson, the library that the servers use: documents in SMILE and
 * CBOR, what Jackson makes of them in JSON, and tables of numbers and of YAML and CBOR cases. README.md tells how
 * to run it. The output depends on nothing but the library versions.
 */
public class Generate {
    interface Document {
        void write(JsonGenerator g) throws IOException;
    }

    static final JsonFactory JSON = JsonFactory.builder().enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER).build();

    /** The JSON of one value, as a server makes it for a search answer: parser events copied to a JSON generator. */
    static byte[] json(JsonFactory format, byte[] data) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (JsonParser p = format.createParser(data); JsonGenerator g = JSON.createGenerator(out, JsonEncoding.UTF8)) {
            p.nextToken();
            g.copyCurrentStructure(p);
        }
        return out.toByteArray();
    }

    static byte[] encode(JsonFactory format, Document d) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (JsonGenerator g = format.createGenerator(out)) {
            d.write(g);
        }
        return out.toByteArray();
    }

    public static void main(String[] args) throws IOException {
        Path dir = Path.of(args[0]);
        for (Map.Entry<String, Document> e : documents().entrySet()) {
            String name = e.getKey();
            byte[] want = null;
            for (int flags : new int[] {0, 1, 2, 3, 5, 7}) {
                SmileFactory f = SmileFactory.builder()
                    .configure(SmileGenerator.Feature.CHECK_SHARED_NAMES, (flags & 1) != 0)
                    .configure(SmileGenerator.Feature.CHECK_SHARED_STRING_VALUES, (flags & 2) != 0)
                    .configure(SmileGenerator.Feature.ENCODE_BINARY_AS_7BIT, (flags & 4) == 0)
                    .configure(SmileGenerator.Feature.WRITE_END_MARKER, flags == 3)
                    .build();
                byte[] smile = encode(f, e.getValue());
                want = json(f, smile);
                Files.write(dir.resolve(name + "." + flags + ".smile"), smile);
            }
            Files.write(dir.resolve(name + ".json"), want);
            byte[] cbor = encode(new CBORFactory(), e.getValue());
            Files.write(dir.resolve(name + ".cbor"), cbor);
            Files.write(dir.resolve(name + ".cbor.json"), json(new CBORFactory(), cbor));
        }
        byte[] plain = Files.readAllBytes(dir.resolve("strings.json"));
        Files.write(dir.resolve("strings.lzf"), LZFEncoder.encode(plain));
        Files.write(dir.resolve("random.lzf"), LZFEncoder.encode(random(9000)));
        Files.write(dir.resolve("random.bin"), random(9000));
        numbers(dir.resolve("numbers.tsv"));
        decimals(dir.resolve("decimals.tsv"));
        cases(dir.resolve("yaml.tsv"), new YAMLFactory(), YAML);
        cases(dir.resolve("cbor.tsv"), new CBORFactory(), CBOR);
    }

    static Map<String, Document> documents() {
        Map<String, Document> all = new TreeMap<>();
        all.put("scalars", Generate::scalars);
        all.put("strings", Generate::strings);
        all.put("binary", Generate::binary);
        all.put("many-names", Generate::manyNames);
        all.put("many-values", Generate::manyValues);
        all.put("nested", Generate::nested);
        all.put("records", Generate::records);
        return all;
    }

    static void scalars(JsonGenerator g) throws IOException {
        g.writeStartObject();
        g.writeNullField("null");
        g.writeBooleanField("true", true);
        g.writeBooleanField("false", false);
        g.writeArrayFieldStart("int");
        for (int i = -40; i <= 40; i++) g.writeNumber(i);
        for (int bit = 5; bit < 31; bit++) {
            for (int d = -1; d <= 1; d++) {
                g.writeNumber((1 << bit) + d);
                g.writeNumber(-(1 << bit) + d);
            }
        }
        g.writeNumber(Integer.MIN_VALUE);
        g.writeNumber(Integer.MAX_VALUE);
        g.writeEndArray();
        g.writeArrayFieldStart("long");
        for (int bit = 31; bit < 63; bit++) {
            for (int d = -1; d <= 1; d++) {
                g.writeNumber((1L << bit) + d);
                g.writeNumber(-(1L << bit) + d);
            }
        }
        g.writeNumber(Long.MIN_VALUE);
        g.writeNumber(Long.MAX_VALUE);
        g.writeEndArray();
        g.writeArrayFieldStart("big integer");
        for (int bit : new int[] {0, 7, 8, 55, 62, 63, 64, 65, 127, 500}) {
            for (int d = -1; d <= 1; d++) {
                BigInteger n = BigInteger.ONE.shiftLeft(bit).add(BigInteger.valueOf(d));
                g.writeNumber(n);
                g.writeNumber(n.negate());
            }
        }
        g.writeEndArray();
        g.writeArrayFieldStart("double");
        for (double d : DOUBLES) g.writeNumber(d);
        g.writeEndArray();
        g.writeArrayFieldStart("float");
        for (double d : DOUBLES) g.writeNumber((float) d);
        g.writeEndArray();
        g.writeArrayFieldStart("big decimal");
        for (String s : DECIMALS) g.writeNumber(new BigDecimal(s));
        g.writeEndArray();
        g.writeEndObject();
    }

    static final double[] DOUBLES = {
        0.0, -0.0, 1, -1, 0.1, 0.5, 1.5, 100, 1e3, 1e6, 9999999, 1e7, 12345678, 1e10, 2.5e-7, 1e-3, 9.99e-4, 1e-4, 2e-3, 1e21, 1e22, 1e23, 2e23,
        1.0 / 3, Math.PI, 3.4028235e38, 1.7976931348623157e308, 4.9e-324, 9.9e-324, 1.5e-323, 2.2250738585072014e-308, 1.1754943508222875e-38, 1.4e-45,
        2.8e-45, 16777216, 16777217, 9007199254740993.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
    };

    static final String[] DECIMALS = {
        "0", "0.0", "0.00", "0E+3", "0E-9", "1", "-1", "1.0", "-1.5", "123.456", "1E+3", "1.2E+3", "-1E-7", "0.000001", "0.0000001", "0.00000123",
        "123456789012345678901234567890", "1234567890.123456789012345678901234567890", "1E+400", "-9.99E-400", "1E+2147483647", "1E-2147483646",
    };

    static String text(int length, String alphabet, int seed) {
        StringBuilder b = new StringBuilder();
        int[] points = alphabet.codePoints().toArray();
        for (int i = 0; i < length; i++) b.appendCodePoint(points[(i * 7 + seed) % points.length]);
        return b.toString();
    }

    static void strings(JsonGenerator g) throws IOException {
        StringBuilder ascii = new StringBuilder();
        for (char c = 0; c < 128; c++) ascii.append(c);
        String[] alphabets = {"abcdefghijklmnopqrstuvwxyz", "aé", "éü\u0080\u07ff", "水a\u0800\u2028\uffff", "\uD83D\uDE00z\uDBFF\uDFFF", ascii.toString()};
        g.writeStartObject();
        for (int a = 0; a < alphabets.length; a++) {
            for (int n = 0; n < 140; n++) {
                if (n > 3 && n < 30 || n > 36 && n < 54 || n > 67 && n != 115) continue;
                String s = text(n, alphabets[a], n);
                g.writeStringField(s, s);
            }
        }
        g.writeArrayFieldStart("again");
        for (int a = 0; a < alphabets.length; a++) {
            for (int n = 30; n < 68; n++) {
                if (n > 33 && n < 64) continue;
                g.writeStartObject();
                g.writeStringField(text(n, alphabets[a], n), text(n, alphabets[a], n));
                g.writeEndObject();
            }
        }
        g.writeEndArray();
        g.writeStringField("long", text(2000, alphabets[3], 1));
        g.writeStringField("longer", text(20000, alphabets[0], 1));
        g.writeEndObject();
    }

    static void binary(JsonGenerator g) throws IOException {
        Random random = new Random(7);
        g.writeStartObject();
        for (int n = 0; n < 40; n++) {
            byte[] b = new byte[n];
            random.nextBytes(b);
            g.writeBinaryField("b" + n, b);
        }
        byte[] b = new byte[1500];
        random.nextBytes(b);
        g.writeBinaryField("large", b);
        g.writeEndObject();
    }

    static byte[] random(int size) {
        byte[] b = new byte[size];
        new Random(3).nextBytes(b);
        return b;
    }

    /** More names than a shared table holds, so that it starts anew, each then used again. */
    static void manyNames(JsonGenerator g) throws IOException {
        g.writeStartObject();
        g.writeArrayFieldStart("n");
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 1100; i++) {
                g.writeStartObject();
                g.writeNullField("n" + i);
                if (i >= 3) g.writeNullField("n" + (i - 3));
                if (i % 50 == 0) g.writeNullField("n" + (i / 2));
                g.writeEndObject();
            }
        }
        g.writeEndArray();
        g.writeEndObject();
    }

    static void manyValues(JsonGenerator g) throws IOException {
        g.writeStartObject();
        g.writeArrayFieldStart("v");
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 1100; i++) {
                g.writeString("v" + i);
                if (i >= 3) g.writeString("v" + (i - 3));
                if (i % 50 == 0) g.writeString("v" + (i / 2));
            }
        }
        g.writeEndArray();
        g.writeEndObject();
    }

    static void nested(JsonGenerator g) throws IOException {
        g.writeStartObject();
        for (int i = 0; i < 100; i++) {
            g.writeObjectFieldStart("o");
            g.writeArrayFieldStart("a");
            g.writeStartObject();
            g.writeEndObject();
            g.writeStartArray();
            g.writeEndArray();
            g.writeStartObject();
        }
        for (int i = 0; i < 100; i++) {
            g.writeEndObject();
            g.writeEndArray();
            g.writeNumberField("same", 1);
            g.writeNumberField("same", 2);
            g.writeEndObject();
        }
        g.writeEndObject();
    }

    /** Many records of one kind, as logs are: what the benchmark reads. */
    static void records(JsonGenerator g) throws IOException {
        Random random = new Random(11);
        String[] words = {"shelf", "ledger", "quire", "verso", "recto", "folio", "binding", "étagère", "margin", "codex"};
        g.writeStartObject();
        g.writeArrayFieldStart("records");
        for (int i = 0; i < 120; i++) {
            g.writeStartObject();
            g.writeStringField("@timestamp", "2024-03-" + (10 + i % 20) + "T12:" + (10 + i % 50) + ":07.123Z");
            g.writeNumberField("number", i * 7919L);
            g.writeStringField("level", i % 9 == 0 ? "error" : "info");
            g.writeNumberField("took", random.nextDouble() * 100);
            g.writeBooleanField("ok", i % 3 != 0);
            g.writeObjectFieldStart("place");
            g.writeStringField("room", words[i % 7]);
            g.writeNumberField("shelf", i % 40);
            g.writeEndObject();
            g.writeArrayFieldStart("tags");
            for (int k = 0; k < i % 4; k++) g.writeString(words[(i + k) % words.length]);
            g.writeEndArray();
            StringBuilder message = new StringBuilder();
            for (int k = 0; k < 20; k++) message.append(words[random.nextInt(words.length)]).append(' ');
            g.writeStringField("message", message.toString());
            g.writeEndObject();
        }
        g.writeEndArray();
        g.writeEndObject();
    }

    /** Bits of a number, and its text by the algorithm that Double.toString and Float.toString have since JDK 19. */
    static void numbers(Path file) throws IOException {
        Random random = new Random(42);
        try (PrintWriter w = new PrintWriter(Files.newBufferedWriter(file))) {
            for (int i = 0; i < 600; i++) {
                double d = Double.longBitsToDouble(random.nextLong());
                w.print("d\t" + Long.toHexString(Double.doubleToRawLongBits(d)) + "\t" + DoubleToDecimal.toString(d) + "\n");
                d = random.nextInt(2000000) / Math.pow(10, random.nextInt(12));
                w.print("d\t" + Long.toHexString(Double.doubleToRawLongBits(d)) + "\t" + DoubleToDecimal.toString(d) + "\n");
                d = Double.longBitsToDouble(1L << random.nextInt(63));
                w.print("d\t" + Long.toHexString(Double.doubleToRawLongBits(d)) + "\t" + DoubleToDecimal.toString(d) + "\n");
                float f = Float.intBitsToFloat(random.nextInt());
                w.print("f\t" + Integer.toHexString(Float.floatToRawIntBits(f)) + "\t" + FloatToDecimal.toString(f) + "\n");
                f = random.nextInt(200000) / (float) Math.pow(10, random.nextInt(9));
                w.print("f\t" + Integer.toHexString(Float.floatToRawIntBits(f)) + "\t" + FloatToDecimal.toString(f) + "\n");
            }
            for (int i = 1; i < 200; i++) {
                w.print("d\t" + Integer.toHexString(i) + "\t" + DoubleToDecimal.toString(Double.longBitsToDouble(i)) + "\n");
                w.print("f\t" + Integer.toHexString(i) + "\t" + FloatToDecimal.toString(Float.intBitsToFloat(i)) + "\n");
            }
        }
    }

    /** Unscaled value, scale, and BigDecimal's text. */
    static void decimals(Path file) throws IOException {
        try (PrintWriter w = new PrintWriter(Files.newBufferedWriter(file))) {
            for (String unscaled : List.of("0", "1", "-1", "9", "12", "-123", "1000", "123456789", "-98765432109876543210")) {
                for (int scale = -12; scale <= 24; scale++) {
                    w.print(unscaled + "\t" + scale + "\t" + new BigDecimal(new BigInteger(unscaled), scale) + "\n");
                }
            }
        }
    }

    /** Each input (CBOR in hexadecimal), and Jackson's JSON, or "error". */
    static void cases(Path file, JsonFactory format, List<String> inputs) throws IOException {
        try (PrintWriter w = new PrintWriter(Files.newBufferedWriter(file))) {
            for (String in : inputs) {
                byte[] data = in.getBytes(StandardCharsets.UTF_8);
                if (format instanceof CBORFactory) {
                    data = new BigInteger("01" + in.replace(" ", ""), 16).toByteArray();
                    data = java.util.Arrays.copyOfRange(data, 1, data.length);
                }
                String want;
                try {
                    want = new String(json(format, data), StandardCharsets.UTF_8);
                } catch (IOException | RuntimeException e) {
                    want = "error";
                }
                w.print(in.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") + "\t" + want + "\n");
            }
        }
    }

    static final List<String> YAML = List.of(
        "--- {a: yes, b: no, c: on, d: off, e: y, f: N, g: True, h: TRUE, i: tRUE, j: Y, k: NO, l: Off}",
        "--- {a: ~, b: null, c: Null, d: NULL, e: nULL, f: , g: '', h: \"\", i: 'null', j: \"~\"}",
        "--- {a: 1_000, b: 0x1F, c: 017, d: 0b101, e: 09, f: +5, g: -0, h: 00, i: 1:30, j: 0o17, k: 0_7, l: -0x10, m: +0b11, n: 0X1F, o: -017}",
        "--- {a: 12345678901234567890, b: -9223372036854775809, c: 0xffffffffffffffff, d: 07777777777777777777777, e: 0x7fffffff, f: 0x80000000, g: 123456789012345678901234567890123456789012345678901234567890}",
        "--- {a: 1.5, b: 1e3, c: 1.0e3, d: 1.0e+3, e: .5, f: 5., g: -.5, h: +1.5, i: 1.5e400, j: -1e400, k: 1_0.5, l: 1e5, m: 1E5, n: 1.E5, o: 1.e+5, p: 0.1, q: 1e-7, r: .5e3, s: 0., t: -0.0}",
        "--- {a: 123456789012345678901234567890.5, b: 0.1234567890123456789012345678901234567890, c: 1e-400}",
        "--- {a: 0x, b: 0b, c: \"1\", d: '1.5', e: 0.5_, f: _1, g: 1_, h: -, i: +, j: 0b_1, k: 0x_1_f, l: 0_, m: 0__1, n: 1.2.3, o: 1-2, p: .e5, q: 0b12, r: 08, s: 1e, t: -a}",
        "--- {a: 2001-01-01, b: 2001-12-14t21:59:43.10-05:00, c: 10:20:30, d: 192.168.0.1, e: =}",
        "--- {a: !!str 5, b: !!int \"5\", c: !!float 5, d: !!binary aGVsbG8=, e: !!bool yes, f: !!null x, g: !foo 5, h: ! 5, i: !!set {a, b}, j: !!bool y, k: !!str , l: !<tag:yaml.org,2002:int> 7}",
        "--- {a: !!int 0x1_F, b: !!float 1_0, c: !!bool maybe, d: !!int \"\", e: !!null '', f: !!timestamp 2001-01-01, g: !!int 1.5, h: !!seq [1], i: !!map {b: 1}, j: !!float 1e3}",
        "---\na: !!binary |\n  aGVsbG8g\n  d29ybGQ=\n",
        "--- {a: &x {b: 1}, c: *x, <<: *x, d: &y 5, e: *y, f: [*x, *y]}",
        "--- {1: a, true: b, ~: c, 1.5: d, 'q': e, \"r\": f, yes: g}",
        "--- {? [a]: b}",
        "--- {? {a: 1}: b}",
        "--- {a: &k key, *k : 1}",
        "--- {a: 1, a: 2}",
        "---\na: |\n  x\n   y\nb: >\n  x\n  y\n\n  z\nc: |-\n  x\nd: |+\n  x\n\ne: \"\\x01\\u00e9\\U0001F600\\t\\N\\_\\L\"\nf: 'it''s'\ng: plain\n  over lines\n",
        "---\na: 1\n---\nb: 2\n",
        "---\na: 1\n...\ngarbage: [\n",
        "--- # comment\na: 1 # comment\n# comment\nb:\n- 1\n-   - 2\n    - x: 3\n      y: 4\n-\n- []\n- {}\n",
        "---\n",
        "--- ~\n",
        "--- text\n",
        "---\na: b: c\n",
        "---\na: [1, 2\n",
        "---\na: 1\n b: 2\n",
        "---\n\ta: 1\n",
        "--- {a, b: , c: [1,,2]}",
        "--- {a, b: 1}",
        "---\n? a\n? b\n: 1\n",
        "--- {\"a\": \"\\\"\\\\\", \"emoji\": \"😀\", 'é水': 'é水'}",
        "---\n\"a\":1\n",
        "--- {\"a\":1,\"b\":[true,false,null,\"x\",1.0,-2]}",
        "---\na: \"x\n  y\n\n  z\"\nb: http://x/y:8080?z=#frag\nc: x#y\n",
        "---\na: @x\n",
        "---\nc: x y  z   # c\nd: -1\n",
        "---\ne: - 1\n");

    static final List<String> CBOR = List.of(
        "d9d9f7 a1 61 61 01", "bf 61 61 01 ff", "a0", "bf ff", "b7 00", "a1 61 61 80", "a1 61 61 9f ff", "b8 01 61 61 01", "b9 0001 61 61 01", "ba 00000001 61 61 01", "bb 0000000000000001 61 61 01",
        "a1 61 61 c2 49 010000000000000000", "a1 61 61 c3 49 010000000000000000", "a1 61 61 c2 40", "a1 61 61 c2 01", "a1 61 61 c2 5f 41 05 41 06 ff", "a1 61 61 c1 c2 41 05", "a1 61 61 c2 c1 41 05",
        "a1 61 61 c4 82 21 19 6ab3", "a1 61 61 c4 82 01 c2 49 010000000000000000", "a1 61 61 c4 82 24 01", "a1 61 61 c4 82 26 01", "a1 61 61 c4 82 27 01", "a1 61 61 c4 01", "a1 61 61 c4 82 20 c3 41 05",
        "a1 61 61 c4 82 c4 82 01 01 01", "a1 61 61 c4 83 01 01 01", "a1 61 61 c4 81 01", "a1 61 61 c5 82 21 19 6ab3", "a1 61 61 c4 82 3b 7fffffffffffffff 01", "a1 61 61 c4 82 1a 7fffffff 01",
        "a1 61 61 c0 63 414243", "a1 61 61 d8 20 63 414243", "a1 61 61 c1 01", "a1 61 61 f4", "a1 61 61 f5", "a1 61 61 f6", "a1 61 61 f7", "a1 61 61 f0", "a1 61 61 f8 ff",
        "a1 61 61 f9 3c00", "a1 61 61 f9 7e00", "a1 61 61 f9 7c00", "a1 61 61 f9 fc00", "a1 61 61 f9 0001", "a1 61 61 f9 8000", "a1 61 61 f9 7bff", "a1 61 61 f9 c400", "a1 61 61 fa 3f800000", "a1 61 61 fb 3ff0000000000000", "a1 61 61 fb 7ff0000000000000",
        "a1 61 61 17", "a1 61 61 18 18", "a1 61 61 19 0100", "a1 61 61 1a ffffffff", "a1 61 61 1b 7fffffffffffffff", "a1 61 61 1b ffffffffffffffff", "a1 61 61 37", "a1 61 61 38 ff", "a1 61 61 3a ffffffff", "a1 61 61 3b 7fffffffffffffff", "a1 61 61 3b ffffffffffffffff",
        "a1 01 02", "a1 20 02", "a1 19 0400 02", "a1 41 61 02", "a1 f5 02", "a1 f9 3c00 02", "a1 7f 61 61 61 62 ff 02", "a1 5f 41 61 41 62 ff 02", "a1 60 01",
        "a1 61 61 7f 61 61 61 62 ff", "a1 61 61 5f 41 61 41 62 ff", "a1 61 61 43 010203", "a1 61 61 63 eda080", "a1 61 61 66 eda0bdedb880", "a1 61 61 64 f09f9880", "a1 61 61 65 225c0a1f7f",
        "a2 61 62 01 61 61 02", "a2 61 61 01 61 61 02", "a1 61 61", "a1 61 61 ff", "a1 61 61 1c", "a1 61 61 62 61", "bf 61 61 ff", "a1 61 61 9f 01", "a1 61 61 81");
}
