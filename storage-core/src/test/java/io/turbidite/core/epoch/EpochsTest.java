package io.turbidite.core.epoch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.Tier;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** What is retired is never in use: the Lincheck part swaps an object and destroys the old one. */
public class EpochsTest {
    private final SimClock clock = new SimClock();
    private final Epochs epochs = Epochs.create(8, clock);
    private final AtomicReference<Resource> current = new AtomicReference<>(new Resource());

    private static final class Resource {
        final AtomicBoolean destroyed = new AtomicBoolean();
    }

    /** Uses the current resource under protection; it is never destroyed meanwhile. */
    @Operation
    public boolean use() {
        try (EpochSession session = epochs.open("user")) {
            session.protect();
            Resource resource = current.get();
            Thread.onSpinWait();
            boolean first = resource.destroyed.get();
            session.refresh();
            resource = current.get();
            Thread.onSpinWait();
            return first || resource.destroyed.get();
        }
    }

    /** Puts a new resource in place and destroys the old one when nobody can have it. */
    @Operation
    public void replace() {
        Resource old = current.getAndSet(new Resource());
        epochs.bump(() -> old.destroyed.set(true));
    }

    @Test
    void nobody_meets_a_destroyed_resource() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 8, 100))
                .invocationsPerIteration(Tier.count(50, 400, 5_000))
                .threads(3)
                .actorsPerThread(5)
                .sequentialSpecification(Model.class)
                .check(EpochsTest.class);
    }

    /** Nothing is ever seen destroyed. */
    public static final class Model {
        public boolean use() {
            return false;
        }

        public void replace() {}
    }

    @Test
    void an_action_waits_for_all_that_could_know_the_old_state() {
        List<String> ran = new ArrayList<>();
        EpochSession a = epochs.open("a");
        EpochSession b = epochs.open("b");
        a.protect();
        b.protect();
        long epoch = epochs.bump(() -> ran.add("first"));
        epochs.bump(() -> ran.add("second"));
        a.refresh();
        assertThat(ran).isEmpty();
        assertThat(epochs.allReached(epoch)).isFalse();
        b.unprotect();
        assertThat(ran).containsExactly("first", "second");
        assertThat(epochs.waitingCount()).isZero();
        a.close();
        b.close();
    }

    @Test
    void an_action_runs_at_once_when_nobody_is_protected() {
        List<String> ran = new ArrayList<>();
        EpochSession late = epochs.open("late");
        epochs.bump(() -> ran.add("now"));
        assertThat(ran).containsExactly("now");
        late.protect();
        epochs.bump(() -> ran.add("later"));
        late.refresh();
        assertThat(ran).containsExactly("now", "later");
        late.close();
    }

    @Test
    void an_action_may_bump_again() {
        List<String> ran = new ArrayList<>();
        EpochSession session = epochs.open("s");
        session.protect();
        epochs.bump(() -> epochs.bump(() -> ran.add("inner")));
        session.refresh();
        session.refresh();
        assertThat(ran).containsExactly("inner");
        session.close();
    }

    @Test
    void a_session_that_stalls_the_others_is_named() {
        EpochSession quick = epochs.open("quick");
        EpochSession slow = epochs.open("slow");
        quick.protect();
        slow.protect();
        epochs.bump(() -> {});
        clock.advanceMicros(2_000);
        quick.refresh();
        assertThat(epochs.stalled(3_000_000)).isEmpty();
        assertThat(epochs.stalled(1_000_000)).singleElement().satisfies(stalled -> {
            assertThat(stalled.name()).isEqualTo("slow");
            assertThat(stalled.nanos()).isEqualTo(2_000_000);
        });
        slow.close();
        assertThat(epochs.stalled(0)).isEmpty();
        quick.close();
    }

    @Test
    void places_are_bounded_and_come_free() {
        Epochs two = Epochs.create(2, clock);
        EpochSession a = two.open("a");
        EpochSession b = two.open("b");
        assertThatThrownBy(() -> two.open("c"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("2 sessions");
        a.close();
        a.close();
        assertThatThrownBy(a::protect).isInstanceOf(ClosedException.class);
        two.open("c").close();
        b.close();
    }
}
