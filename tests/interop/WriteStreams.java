import com.ning.compress.lzf.LZFInputStream;
import com.ning.compress.lzf.LZFOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import net.jpountz.lz4.LZ4BlockInputStream;
import net.jpountz.lz4.LZ4BlockOutputStream;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4FrameInputStream;
import net.jpountz.lz4.LZ4FrameOutputStream;
import net.jpountz.xxhash.XXHashFactory;
import org.xerial.snappy.SnappyFramedInputStream;
import org.xerial.snappy.SnappyFramedOutputStream;
import org.xerial.snappy.SnappyInputStream;
import org.xerial.snappy.SnappyOutputStream;

/**
 * WriteStreams INPUT DIRECTORY: the bytes of INPUT through every stream that a JVM application may write its log with,
 * set up as Spark's codecs do, each as DIRECTORY/kind.variant. Variants: closed; open (flushed, never closed, as in the
 * file of an application that still runs); twice (two streams one after another, half of the bytes each).
 *
 * WriteStreams --read DIRECTORY: every file there, whose name begins with its kind, decoded as NAME.plain.
 */
public final class WriteStreams {
    interface Coder {
        OutputStream over(OutputStream out) throws IOException;
    }

    static OutputStream lz4(OutputStream out, int blockSize, boolean high, boolean syncFlush) {
        LZ4Factory factory = LZ4Factory.fastestInstance();
        int seed = 0x9747b28c;
        return new LZ4BlockOutputStream(out, blockSize, high ? factory.highCompressor() : factory.fastCompressor(),
            XXHashFactory.fastestInstance().newStreamingHash32(seed).asChecksum(), syncFlush);
    }

    static Map<String, Coder> coders() {
        Map<String, Coder> coders = new LinkedHashMap<>();
        coders.put("lz4-32k", out -> lz4(out, 32 * 1024, false, false));
        coders.put("lz4-64", out -> lz4(out, 64, false, false));
        coders.put("lz4-high-1m", out -> lz4(out, 1 << 20, true, false));
        coders.put("lz4-default", out -> new LZ4BlockOutputStream(out));
        coders.put("lz4-sync", out -> lz4(out, 32 * 1024, false, true));
        coders.put("lz4frame", out -> new LZ4FrameOutputStream(out));
        coders.put("lz4frame-64k", out -> new LZ4FrameOutputStream(out, LZ4FrameOutputStream.BLOCKSIZE.SIZE_64KB,
            LZ4FrameOutputStream.FLG.Bits.BLOCK_INDEPENDENCE, LZ4FrameOutputStream.FLG.Bits.CONTENT_CHECKSUM,
            LZ4FrameOutputStream.FLG.Bits.BLOCK_CHECKSUM));
        coders.put("snappy-32k", out -> new SnappyOutputStream(out, 32 * 1024));
        coders.put("snappy-1k", out -> new SnappyOutputStream(out, 1024));
        coders.put("snappyframed", out -> new SnappyFramedOutputStream(out));
        coders.put("lzf", out -> new LZFOutputStream(out));
        coders.put("gzip", out -> new GZIPOutputStream(out, 65536));
        return coders;
    }

    /** As a logger does: a line at a time, more or less. */
    static void write(OutputStream out, byte[] plain, int from, int to) throws IOException {
        for (int at = from; at < to; at += 1000) {
            out.write(plain, at, Math.min(1000, to - at));
        }
    }

    static byte[] closed(Coder coder, byte[] plain, int from, int to) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        OutputStream out = coder.over(bytes);
        write(out, plain, from, to);
        out.close();
        return bytes.toByteArray();
    }

    static byte[] open(Coder coder, byte[] plain) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        OutputStream out = coder.over(bytes);
        write(out, plain, 0, plain.length);
        out.flush();
        return bytes.toByteArray();
    }

    static byte[] twice(Coder coder, byte[] plain) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(closed(coder, plain, 0, plain.length / 2));
        bytes.write(closed(coder, plain, plain.length / 2, plain.length));
        return bytes.toByteArray();
    }

    static InputStream reader(String kind, InputStream in) throws IOException {
        switch (kind) {
            case "lz4":
                return new LZ4BlockInputStream(in, false);
            case "lz4 frame":
                return new LZ4FrameInputStream(in);
            case "snappy":
                return new SnappyInputStream(in);
            case "snappy framed":
                return new SnappyFramedInputStream(in);
            case "lzf":
                return new LZFInputStream(in);
            default:
                throw new IOException("no reader of " + kind);
        }
    }

    static void readAll(Path directory) throws IOException {
        List<Path> coded = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            files.forEach(coded::add);
        }
        for (Path path : coded) {
            String name = path.getFileName().toString();
            try (InputStream in = reader(name.substring(0, name.lastIndexOf(' ')), Files.newInputStream(path))) {
                Files.write(directory.resolve(name + ".plain"), in.readAllBytes());
            }
        }
    }

    public static void main(String[] words) throws IOException {
        if (words[0].equals("--read")) {
            readAll(Path.of(words[1]));
            return;
        }
        byte[] plain = Files.readAllBytes(Path.of(words[0]));
        Path directory = Path.of(words[1]);
        for (Map.Entry<String, Coder> coder : coders().entrySet()) {
            Files.write(directory.resolve(coder.getKey() + ".closed"), closed(coder.getValue(), plain, 0, plain.length));
            Files.write(directory.resolve(coder.getKey() + ".open"), open(coder.getValue(), plain));
            Files.write(directory.resolve(coder.getKey() + ".twice"), twice(coder.getValue(), plain));
        }
    }
}
