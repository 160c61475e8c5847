package io.turbidite.feeds;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.LetterLines;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/**
 * The dead letters of a feed as a source with one partition. A position is an offset in their file
 * and a checksum of what stands before it, so that a file which was emptied is read from its
 * beginning. <em>Confined to the thread of the run.</em>
 */
final class LetterSource implements FeedSource {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PAGE_LINES = 256;

    /** The window before a position. */
    private static final int WINDOW_BYTES = 256;

    private final Store store;
    private final String feed;

    /** Where the letters' records came from: it knows the headers. */
    private final FeedSource first;

    /** Never if the source can't go back: it would give what comes now, to be lost. */
    private boolean hasPartitions;

    LetterSource(Store store, String feed, FeedSource first) {
        this.store = store;
        this.feed = feed;
        this.first = first;
    }

    @Override
    public void begin(Supplier<Map<String, PartitionState>> taken, SourceHost host) {
        if (host.parser().wantsHeader() && first.canGoBack()) {
            first.begin(taken, host);
            hasPartitions = !first.partitions().isEmpty();
        }
    }

    @Override
    public List<String> partitions() {
        return List.of(LetterLines.partition(feed));
    }

    @Override
    public boolean canGoBack() {
        return true;
    }

    @Override
    public PartitionReader open(
            String partition, @Nullable PartitionState before, SourceHost host) {
        long from = retriedTo(store, feed, before);
        return new Reader(host, from, before != null && from == 0);
    }

    /** Up to where the letters that there are were fed again. */
    static long retriedTo(Store store, String feed, @Nullable PartitionState before) {
        if (before == null) {
            return 0;
        }
        ByteBuffer position = ByteBuffer.wrap(before.position().toByteArray());
        long offset = position.getLong();
        return position.getInt() == windowCrc32c(store, feed, offset) ? offset : 0;
    }

    private static int windowCrc32c(Store store, String feed, long offset) {
        CRC32C crc = new CRC32C();
        crc.update(LetterLines.before(store, feed, offset, WINDOW_BYTES));
        return (int) crc.getValue();
    }

    @Override
    public void close() {
        first.close();
    }

    private final class Reader implements PartitionReader {
        private final SourceHost host;
        private final boolean startsAnew;

        /** Letters of this run lie behind it. */
        private final long end = LetterLines.end(store, feed);

        private final ArrayDeque<LetterLines.Line> page = new ArrayDeque<>();
        private long at;
        private @Nullable RecordFrame frame;

        /** The partition whose header the parser has. */
        private @Nullable String header;

        Reader(SourceHost host, long from, boolean startsAnew) {
            this.host = host;
            this.at = from;
            this.startsAnew = startsAnew;
        }

        @Override
        public Step next() {
            if (at >= end) {
                return Step.END;
            }
            if (page.isEmpty()) {
                page.addAll(LetterLines.read(store, feed, at, PAGE_LINES));
            }
            LetterLines.Line line = page.poll();
            if (line == null) {
                return Step.END;
            }
            at = line.next();
            frame = frame(line);
            return Step.RECORD;
        }

        private RecordFrame frame(LetterLines.Line line) {
            JsonNode letter;
            try {
                letter = JSON.readTree(line.text());
            } catch (JsonProcessingException edited) {
                return RecordFrame.again(
                        line.text().getBytes(StandardCharsets.UTF_8),
                        line.offset(),
                        1,
                        LetterLines.partition(feed),
                        "it is no dead letter any more");
            }
            String source = letter.path("source").asText();
            boolean isText = letter.hasNonNull("raw");
            byte[] raw;
            String problem = letter.path("rawBytes").asLong() > 0
                    ? "a dead letter keeps 64 KiB of a record, and this one had %d bytes: load it from its source"
                            .formatted(letter.path("rawBytes").asLong())
                    : headerProblem(source);
            try {
                raw = isText
                        ? letter.path("raw").asText().getBytes(StandardCharsets.UTF_8)
                        : Base64.getDecoder().decode(letter.path("rawBase64").asText());
            } catch (IllegalArgumentException edited) {
                raw = line.text().getBytes(StandardCharsets.UTF_8);
                problem = "it is no dead letter any more";
            }
            return RecordFrame.again(
                    raw,
                    letter.path("offset").asLong(),
                    letter.path("line").asLong(),
                    source,
                    problem);
        }

        /** Has the parser know the header under which the record stood; null if it does. */
        private @Nullable String headerProblem(String source) {
            if (!host.parser().wantsHeader() || source.equals(header)) {
                return null;
            }
            header = null;
            String why = first.canGoBack()
                    ? "it has no record"
                    : "its source can't be read twice; take header: false and name the columns";
            if (hasPartitions) {
                // from the beginning, where the header is
                try (PartitionReader reader = first.open(source, null, host)) {
                    if (reader.next() == Step.RECORD) {
                        header = source;
                        return null;
                    }
                } catch (InvalidRequestException gone) {
                    why = String.valueOf(gone.getMessage());
                }
            }
            return "the header of %s can't be read again: %s".formatted(source, why);
        }

        @Override
        public RecordFrame frame() {
            return Objects.requireNonNull(frame);
        }

        @Override
        public SourcePosition position() {
            return SourcePosition.of(ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                    .putLong(at)
                    .putInt(windowCrc32c(store, feed, at))
                    .array());
        }

        @Override
        public boolean startsAnew() {
            return startsAnew;
        }
    }
}
