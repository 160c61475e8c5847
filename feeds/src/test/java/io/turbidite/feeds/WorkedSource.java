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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;

/**
 * A source for several parse workers, which looks after their rules: one reader of a partition at a
 * time, opened behind all that was delivered of it. A position is the number of records before it.
 * Where it is endless its partitions are taken away and given back, and end for a while.
 */
final class WorkedSource implements FeedSource {
    private static final int PARCEL_RECORDS = 7;

    /** A run has asked up to 800 times. */
    private static final long ASKED_MAX = 100_000;

    private final int partitionCount;
    private final int recordCount;
    private final IntFunction<String> text;
    private final SplittableRandom random;
    boolean isEndless;
    boolean readsApart;

    /** Nothing comes for now. */
    volatile boolean isResting;

    /** If not, records come in parcels, and the rest of one goes with its reader. */
    boolean canGoBack = true;

    /** Of a hundred looks at a partition, and of a hundred reads. */
    int gonePercent;

    int endPercent;

    /** Of a hundred records. */
    int breakPercent = 3;

    /** Names that are given twice: no source may, and a run must not take records twice by it. */
    final Set<String> doubled = new HashSet<>();

    final Map<String, Long> durable = new ConcurrentHashMap<>();
    int goneCount;
    int movedCount;
    private final AtomicLong askedCount = new AtomicLong();
    int openMost;
    private final Map<String, Integer> closedAt = new ConcurrentHashMap<>();
    private final Set<Reader> open = ConcurrentHashMap.newKeySet();
    private final Set<String> away = new HashSet<>();
    private final Set<String> leaving = new HashSet<>();
    private final List<String> gone = new ArrayList<>();

    /**
     * @param text of record {@code i * partitionCount + p}, the {@code i}-th of partition {@code p}
     */
    WorkedSource(
            int partitionCount,
            int recordCount,
            IntFunction<String> text,
            SplittableRandom random) {
        this.partitionCount = partitionCount;
        this.recordCount = recordCount;
        this.text = text;
        this.random = random;
    }

    /** A process begins. */
    void begin() {
        askedCount.set(0);
        durable.clear();
        closedAt.clear();
        open.clear();
        away.clear();
        leaving.clear();
        gone.clear();
    }

    /** Whether an endless source has nothing more, so that its run may be stopped. */
    boolean isRead() {
        assertThat(askedCount.incrementAndGet()).as("a run comes to its end").isLessThan(ASKED_MAX);
        boolean isRead = isEndless;
        for (int p = 0; p < partitionCount; p++) {
            isRead &= durable.getOrDefault("p" + p, 0L) == recordCount;
        }
        return isRead;
    }

    @Override
    public List<String> partitions() {
        List<String> names = new ArrayList<>();
        for (int p = 0; p < partitionCount; p++) {
            String name = "p" + p;
            if (leaving.remove(name)) {
                away.add(name);
            } else if (isEndless && random.nextInt(100) < gonePercent) {
                goneCount++;
                gone.add(name);
                if (random.nextBoolean()) {
                    away.add(name);
                }
            } else if (random.nextInt(4) == 0) {
                away.remove(name);
            }
            if (!away.contains(name)) {
                names.add(name);
                if (doubled.contains(name)) {
                    names.add(name);
                }
            }
        }
        return names;
    }

    @Override
    public List<String> gone() {
        List<String> told = List.copyOf(gone);
        gone.clear();
        return told;
    }

    @Override
    public boolean isEndless() {
        return isEndless;
    }

    @Override
    public boolean readsApart() {
        return readsApart;
    }

    @Override
    public boolean canGoBack() {
        return canGoBack;
    }

    @Override
    public void durable(String partition, SourcePosition position) {
        durable.merge(partition, position.number(), Math::max);
    }

    @Override
    public PartitionReader open(String partition, @Nullable PartitionState taken, SourceHost host) {
        if (doubled.isEmpty()) {
            assertThat(open.stream().map(reader -> reader.name))
                    .as("readers of a partition")
                    .doesNotContain(partition);
        }
        int from = taken == null ? 0 : (int) taken.position().number();
        Integer closed = closedAt.get(partition);
        if (closed != null) {
            assertThat(from).as("delivered of %s before it moved", partition).isEqualTo(closed);
            movedCount++;
        }
        Reader reader = new Reader(partition, from);
        open.add(reader);
        openMost = Math.max(openMost, open.size());
        durable.putIfAbsent(partition, (long) from);
        return reader;
    }

    private final class Reader implements PartitionReader {
        private final String name;
        private final int partition;
        private int at;
        private @Nullable RecordFrame frame;

        Reader(String name, int from) {
            this.name = name;
            this.partition = Integer.parseInt(name.substring(1));
            this.at = from;
        }

        @Override
        public Step next() {
            assertThat(open).contains(this);
            if (at == recordCount || isResting) {
                return isEndless ? Step.NOTHING : Step.END;
            }
            int chance = random.nextInt(100);
            if (chance < breakPercent) {
                return Step.BREAK;
            }
            if (isEndless && chance < breakPercent + endPercent / 5) {
                if (random.nextInt(4) == 0) {
                    leaving.add(name); // what has ended comes again when it was away
                    return Step.END;
                }
                return Step.NOTHING;
            }
            int number = at * partitionCount + partition;
            frame = RecordFrame.of(
                    text.apply(number).getBytes(StandardCharsets.UTF_8), at, at + 1L);
            at++;
            return Step.RECORD;
        }

        @Override
        public RecordFrame frame() {
            return Objects.requireNonNull(frame);
        }

        @Override
        public SourcePosition position() {
            return SourcePosition.of(at);
        }

        @Override
        public boolean isBetween() {
            return at % PARCEL_RECORDS == 0 || at == recordCount;
        }

        @Override
        public void close() {
            open.remove(this);
            closedAt.put(name, at);
            assertThat(canGoBack || isBetween()).as("%s at %d", name, at).isTrue();
        }
    }
}
