package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/**
 * A source that hears its records from a sender: in chunks, of which some come twice, some too
 * early and some not at all, over connections that end. A position is the number of records before
 * it. The sender forgets what it was told to be durable.
 */
final class SimulatedSource implements FeedSource {
    /** What goes wrong on the way, each in so many of a hundred chunks. */
    record Mischief(int repeated, int left, int swapped, int cut) {
        static final Mischief NONE = new Mischief(0, 0, 0, 0);
    }

    private final int partitionCount;
    private final int recordCount;
    private final IntFunction<String> text;
    private final SplittableRandom random;
    Mischief mischief = Mischief.NONE;

    /** Whether a sender that is asked for what was durable has it no more. */
    boolean forgets;

    /** Up to where each partition was said to be durable. */
    final Map<String, Long> durable = new HashMap<>();

    /**
     * @param text of record {@code i} of all partitions; record {@code i} of partition {@code p} is
     *     number {@code i * partitionCount + p}
     */
    SimulatedSource(
            int partitionCount,
            int recordCount,
            IntFunction<String> text,
            SplittableRandom random) {
        this.partitionCount = partitionCount;
        this.recordCount = recordCount;
        this.text = text;
        this.random = random;
    }

    @Override
    public List<String> partitions() {
        List<String> names = new ArrayList<>();
        for (int p = 0; p < partitionCount; p++) {
            names.add("p" + p);
        }
        return names;
    }

    @Override
    public boolean canGoBack() {
        return !forgets;
    }

    @Override
    public void durable(String partition, SourcePosition position) {
        durable.merge(partition, position.number(), Math::max);
    }

    @Override
    public PartitionReader open(String partition, @Nullable PartitionState taken, SourceHost host) {
        int from = taken == null ? 0 : (int) taken.position().number();
        if (forgets) {
            assertThat((long) from)
                    .as("what was acknowledged is there")
                    .isGreaterThanOrEqualTo(durable.getOrDefault(partition, 0L));
        }
        return new Reader(Integer.parseInt(partition.substring(1)), from, taken == null);
    }

    /** Records {@code from} to {@code to}. */
    private record Chunk(int from, int to) {}

    private final class Reader implements PartitionReader {
        private final int partition;
        private final List<Chunk> chunks = new ArrayList<>();
        private final boolean isCut;
        private int nextChunk;
        private int at;

        /** Behind the last record that was given out. */
        private int given;

        /** Whether no record of the chunk was given out. */
        private boolean isFresh;

        private @Nullable RecordFrame frame;

        /** Whether nothing was taken before. */
        private final boolean isFirst;

        Reader(int partition, int from, boolean isFirst) {
            this.partition = partition;
            this.at = from;
            this.given = from;
            this.isFirst = isFirst;
            int start = from;
            if (!forgets && random.nextInt(100) < mischief.repeated) {
                start = random.nextInt(from + 1); // a sender that did not hear how far it was
            }
            while (start < recordCount) {
                // what was taken ends with a chunk
                int most = start < from ? from : recordCount;
                int end = Math.min(most, start + 1 + random.nextInt(40));
                chunks.add(new Chunk(start, end));
                start = end;
            }
            for (int i = chunks.size() - 1; i >= 0; i--) {
                if (random.nextInt(100) < mischief.repeated) {
                    chunks.add(i + 1 + random.nextInt(chunks.size() - i), chunks.get(i));
                }
                if (i > 0 && random.nextInt(100) < mischief.swapped) {
                    chunks.add(i - 1, chunks.remove(i));
                }
                if (random.nextInt(100) < mischief.left) {
                    chunks.remove(i);
                }
            }
            isCut = random.nextInt(100) < mischief.cut && !chunks.isEmpty();
            if (isCut) {
                chunks.subList(random.nextInt(chunks.size()), chunks.size()).clear();
            }
        }

        @Override
        public Step next() {
            boolean inChunk = nextChunk > 0 && at < chunks.get(nextChunk - 1).to;
            if (!inChunk) {
                if (nextChunk == chunks.size()) {
                    return isCut ? Step.NOTHING : Step.END;
                }
                at = chunks.get(nextChunk).from;
                nextChunk++;
                isFresh = true;
                return Step.BREAK;
            }
            isFresh = false;
            int number = at * partitionCount + partition;
            frame = RecordFrame.of(
                    text.apply(number).getBytes(StandardCharsets.UTF_8), at, at + 1L);
            at++;
            given = at;
            return Step.RECORD;
        }

        @Override
        public RecordFrame frame() {
            return Objects.requireNonNull(frame);
        }

        @Override
        public SourcePosition position() {
            return SourcePosition.of(given);
        }

        @Override
        public @Nullable SourcePosition follows(@Nullable SourcePosition before) {
            if (!isFresh) {
                return before;
            }
            return at == 0 && isFirst ? null : SourcePosition.of(at);
        }
    }
}
