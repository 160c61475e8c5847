package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Parse workers and the partitions that are dealt out to them, of a source without records. */
class CrewTest {
    private static final List<String> FOUR = List.of("p0", "p1", "p2", "p3");
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").build();

    private final SimClock clock = new SimClock();
    private final SimTasks tasks = new SimTasks(5, clock);
    private final Quiet source = new Quiet();
    private final NowhereDelivery nowhere =
            new NowhereDelivery(() -> new IllegalStateException("the store takes no more"));
    private final FeedRun.Parts parts = new FeedRun.Parts(
            "f",
            source,
            CrewTest::tools,
            WorkerPolicy.fixed(2),
            ',',
            nowhere,
            tasks,
            clock,
            new StoreEvents(),
            null);
    private final FeedMeters meters = FeedMeters.unseen(clock);
    private final RunShare share = new RunShare(
            parts,
            meters,
            new RunDelivery(nowhere, source, meters, (partition, from, to) -> {}),
            () -> false,
            true);

    private static ParseTools tools() {
        return ParseTools.of(new JsonRecordParser(TYPE, true, List.of()));
    }

    private ParseWorker worker(int number) {
        ParseTools tools = tools();
        SourceHost host = new SourceHost("f", tools.parser(), ',', tasks, clock, () -> false);
        return new ParseWorker(share, host, tools, number, () -> {});
    }

    /** What a run does over and over. */
    private void turns(Crew crew, int count) {
        for (int i = 0; i < count; i++) {
            share.deal.note(FOUR, List.of());
            crew.oversee();
            share.deal.deal(crew.staying());
            for (ParseWorker worker : crew.all()) {
                worker.give(share.deal.round(worker));
            }
            tasks.runForMicros(10_000);
        }
    }

    private List<Integer> counts(Crew crew) {
        return crew.staying().stream().map(share.deal::count).toList();
    }

    @Test
    void aWorkerThatComesLaterIsGivenPartitionsOfTheOthers() {
        Crew crew = new Crew(share, WorkerPolicy.fixed(2), this::worker);
        crew.oversee(); // nothing is there to be read: one worker
        share.deal.note(FOUR, List.of());
        share.deal.deal(crew.staying());
        assertThat(counts(crew)).containsExactly(4);
        turns(crew, 20);
        assertThat(counts(crew)).containsExactly(2, 2);
        assertThat(source.open).containsExactlyInAnyOrderElementsOf(FOUR);
    }

    /** The bug: the names of all that were ever moved stayed for the whole run. */
    @Test
    void aPartitionThatIsGoneWasNotMoved() {
        Crew crew = new Crew(share, WorkerPolicy.fixed(2), this::worker);
        crew.oversee();
        share.deal.note(FOUR, List.of());
        share.deal.deal(crew.staying());
        turns(crew, 20);
        List<String> moved = FOUR.stream().filter(share.deal::wasMoved).toList();
        assertThat(moved).hasSize(2);
        share.deal.note(FOUR, moved);
        assertThat(FOUR).noneMatch(share.deal::wasMoved);
    }

    /** The bug: it had nothing to do for good, where the number of workers did not change. */
    @Test
    void aWorkerWhosePartitionsHaveEndedIsGivenOthers() {
        Crew crew = new Crew(share, WorkerPolicy.fixed(2), this::worker);
        turns(crew, 5);
        assertThat(counts(crew)).containsExactly(2, 2);
        List<String> ending = share.deal.round(crew.staying().getLast()).read();
        source.ended.addAll(ending);
        turns(crew, 5);
        assertThat(counts(crew)).containsExactly(2, 0);
        turns(crew, 200); // two seconds
        assertThat(counts(crew)).containsExactly(1, 1);
        assertThat(source.open).hasSize(2).doesNotContainAnyElementsOf(ending);
    }

    @Test
    void partitionsThatAreKeptAreTriedAgainBehindTheOthers() {
        ParseWorker first = worker(1);
        share.deal.note(FOUR, List.of());
        share.deal.deal(List.of(first));
        List<ParseWorker> both = List.of(first, worker(2));
        for (int i = 0; i < 3; i++) {
            String even = i % 2 == 0 ? "p0" : "p2";
            String odd = i % 2 == 0 ? "p1" : "p3";
            assertThat(share.deal.level(both)).isFalse();
            assertThat(share.deal.round(first).close()).containsExactly(even, odd);
            assertThat(share.deal.keeps(even, first)).isTrue();
            assertThat(share.deal.keeps(odd, first)).isTrue();
        }
    }

    /**
     * The bug: what a failed ring had of a partition counted as delivered. Another worker read it
     * on, and the store took its batches, of the same numbers, in place of those.
     */
    @Test
    void aPartitionOfAWorkerWhoseRingHasFailedGoesToNobody() {
        ParseWorker first = worker(1);
        ParseWorker second = worker(2);
        share.deal.note(List.of("p0", "p1"), List.of());
        assertThat(share.deal.deal(List.of(first, second))).isTrue();
        nowhere.fails = true;
        for (ParseWorker worker : List.of(first, second)) {
            Batch batch = worker.flow().claim();
            batch.begin("p0", null);
            batch.end(SourcePosition.of(1));
            worker.flow().publish();
            tasks.await(worker.equals(first) ? first::hasFailed : second::isDrained);
            nowhere.fails = false;
        }
        share.deal.closed("p0", first, 0, false);
        share.deal.closed("p1", second, 0, false);
        assertThat(share.deal.deal(List.of(first, second))).isFalse();
        assertThat(share.deal.round(first).read()).containsExactly("p1");
        assertThat(share.deal.round(second).read()).isEmpty();
    }

    /** Partitions in which nothing comes, until they end. */
    private static final class Quiet implements FeedSource {
        final Set<String> ended = new HashSet<>();
        final Set<String> open = new HashSet<>();

        @Override
        public List<String> partitions() {
            return FOUR;
        }

        @Override
        public boolean isEndless() {
            return true;
        }

        @Override
        public boolean canGoBack() {
            return true;
        }

        @Override
        public PartitionReader open(
                String partition, @Nullable PartitionState taken, SourceHost host) {
            assertThat(open.add(partition)).as("%s is opened once", partition).isTrue();
            return new PartitionReader() {
                @Override
                public Step next() {
                    return ended.contains(partition) ? Step.END : Step.NOTHING;
                }

                @Override
                public RecordFrame frame() {
                    throw new AssertionError("there is no record");
                }

                @Override
                public SourcePosition position() {
                    return SourcePosition.of(0);
                }

                @Override
                public void close() {
                    open.remove(partition);
                }
            };
        }
    }
}
