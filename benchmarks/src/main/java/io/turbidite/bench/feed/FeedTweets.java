package io.turbidite.bench.feed;

import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** The same tweets as lines of JSON in a file, and as records. <em>Confined to one thread.</em> */
final class FeedTweets {
    private static final double UPDATE_RATIO = 0.1;
    private static final int RECORD_BYTES_MEAN = 600;

    private final Path file;
    private final ByteSink records;
    private final int[] ends;
    private final long[] ids;
    private final int distinctCount;

    /** Makes {@code count} tweets, and writes their lines into {@code file}. */
    FeedTweets(int count, RecordType type, Path file) throws IOException {
        this.file = file;
        this.records = new ByteSink(count * RECORD_BYTES_MEAN, Integer.MAX_VALUE - 16);
        this.ends = new int[count];
        this.ids = new long[count];
        TweetSource source = new TweetSource(1, count, UPDATE_RATIO);
        Tweet tweet = new Tweet();
        RecordWriter writer = new RecordWriter(type);
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16)) {
            for (int i = 0; i < count; i++) {
                source.next(tweet);
                records.putBytes(tweet.record(writer));
                ends[i] = records.length();
                ids[i] = tweet.id;
                out.write(line(tweet).getBytes(StandardCharsets.UTF_8));
            }
        }
        distinctCount = source.distinctCount();
    }

    private static String line(Tweet tweet) {
        return "{\"id\":%d,\"a0\":%d,\"a1\":%d,\"a2\":%d,\"a3\":%d,\"created\":%d,\"message\":\"%s\"}\n"
                .formatted(
                        tweet.id,
                        tweet.attributes[0],
                        tweet.attributes[1],
                        tweet.attributes[2],
                        tweet.attributes[3],
                        tweet.created,
                        tweet.message.toUtf8());
    }

    Path file() {
        return file;
    }

    int count() {
        return ends.length;
    }

    /** How many keys they have. */
    int distinctCount() {
        return distinctCount;
    }

    /** Record {@code index}, where it lies. */
    Slice record(int index, Slice slice) {
        int start = index == 0 ? 0 : ends[index - 1];
        return slice.set(records.segment(), start, ends[index] - start);
    }

    /** Takes the lines of the file in order, without their ends. */
    @FunctionalInterface
    interface LineTaker {
        void take(long id, byte[] line) throws IOException;
    }

    void forEachLine(LineTaker taker) throws IOException {
        try (BufferedReader in = Files.newBufferedReader(file)) {
            for (long id : ids) {
                String line = Objects.requireNonNull(in.readLine());
                taker.take(id, line.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    /** Writes the lines into two files of a directory, those of a key into one of them. */
    void split(Path into) throws IOException {
        try (OutputStream even = new BufferedOutputStream(
                        Files.newOutputStream(into.resolve("even.json")), 1 << 16);
                OutputStream odd = new BufferedOutputStream(
                        Files.newOutputStream(into.resolve("odd.json")), 1 << 16);
                BufferedReader in = Files.newBufferedReader(file)) {
            for (long id : ids) {
                byte[] line =
                        Objects.requireNonNull(in.readLine()).getBytes(StandardCharsets.UTF_8);
                OutputStream out = (id & 1) == 0 ? even : odd;
                out.write(line);
                out.write('\n');
            }
        }
    }

    /** Takes pieces of the file in order. */
    @FunctionalInterface
    interface PieceTaker {
        void take(byte[] bytes, int length) throws IOException;
    }

    /** Gives the file's lines in pieces of whole lines, of at most {@code bytesMax} bytes. */
    void forEachPiece(int bytesMax, PieceTaker taker) throws IOException {
        byte[] piece = new byte[bytesMax];
        int length = 0;
        try (var in = Files.newInputStream(file)) {
            while (true) {
                int read = in.readNBytes(piece, length, bytesMax - length);
                length += read;
                if (length == 0) {
                    return;
                }
                int end = length;
                while (piece[end - 1] != '\n') {
                    end--;
                }
                taker.take(piece, end);
                length -= end;
                System.arraycopy(piece, end, piece, 0, length);
            }
        }
    }
}
