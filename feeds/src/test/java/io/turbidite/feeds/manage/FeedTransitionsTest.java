package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.meter.StoreEvent.FeedChanged;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.feeds.manage.FeedState.Cue;
import io.turbidite.feeds.manage.TroubledKind.Script;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * Each transition of a feed happens on a manager, and is an event that says from where, to where
 * and why. A state is brought about, then what moves a feed from it; so a transition that is new in
 * {@link FeedState} is tried without more words here.
 */
class FeedTransitionsTest {
    private static final String FEED = "a";

    /** A feed that stands at its source's opening, so that no other feed gets further. */
    private static final String GATE = "gate";

    private final Script script = new Script(0);
    private final SimClock clock = new SimClock();
    private final SimTasks tasks = new SimTasks(7, clock);
    private final List<FeedChanged> events = new ArrayList<>();

    private static String definition(String feed, int version) {
        return """
                feed: %s
                dataset: { name: D, type: { id: int64, name: "string?", version: "int32?" }, \
                primaryKey: id }
                source: { kind: troubled, script: %s }
                parser: { kind: json }
                transform: { version: "int32('%d')" }
                """.formatted(feed, feed, version);
    }

    @Test
    void every_transition_happens_and_is_an_event() {
        Set<String> met = new TreeSet<>();
        for (FeedState state : FeedState.values()) {
            for (Cue cue : Cue.values()) {
                FeedState after = state.after(cue);
                if (after != null) {
                    String as = "%s %s %s".formatted(state.label(), cue, after.label());
                    new FeedTransitionsTest().happens(state, cue, after, as);
                    met.add(as);
                }
            }
        }
        assertThat(met).isEqualTo(new TreeSet<>(FeedStateTest.TRANSITIONS));
    }

    private void happens(FeedState from, Cue cue, FeedState to, String as) {
        TroubledKind.SCRIPTS.put(FEED, script);
        StoreOptions options =
                StoreOptions.defaults().withWriteMemoryBytes(2 << 20).withCacheBytes(2 << 20);
        try (Store store = Store.open(new SimDisk(7, Profile.STRICT), tasks, clock, options);
                FeedManager feeds = FeedManager.open(store, new SplittableRandom(7))) {
            store.events().listen(event -> {
                if (event instanceof FeedChanged changed && changed.feed().equals(FEED)) {
                    events.add(changed);
                }
            });
            if (from == FeedState.STARTING && isAsked(cue)) {
                atTheGate(feeds, () -> move(feeds, from, cue, to, as));
            } else {
                move(feeds, from, cue, to, as);
            }
        }
    }

    /** Whether somebody asks for it, which takes steps of others. */
    private static boolean isAsked(Cue cue) {
        return switch (cue) {
            case PAUSE, RESUME, STOP, CHANGE -> true;
            case OPENED, RESTED, READ, FINISHED, TROUBLE, FAILURE, DUE -> false;
        };
    }

    private void atTheGate(FeedManager feeds, Runnable work) {
        Script gate = new Script(1_000_000);
        boolean[] isDone = {false};
        TroubledKind.SCRIPTS.put(GATE, gate);
        feeds.start(definition(GATE, 0), Path.of(".")); // which may open its source to look at it
        gate.onOpen = () -> {
            gate.onOpen = () -> {};
            work.run();
            isDone[0] = true;
        };
        tasks.await(() -> isDone[0]);
    }

    private void move(FeedManager feeds, FeedState from, Cue cue, FeedState to, String as) {
        bring(feeds, from);
        FeedStatus before = feeds.status(FEED);
        assertThat(before.state()).as(as).isEqualTo(from);
        int count = events.size();
        give(feeds, cue, from);
        tasks.await(() -> events.size() > count);
        FeedChanged event = events.get(count);
        assertThat(event.before()).as(as).isEqualTo(from.label());
        assertThat(event.after()).as(as).isEqualTo(to.label());
        switch (cue) {
            case TROUBLE -> assertThat(event.cause()).as(as).contains("it is away");
            case FAILURE -> assertThat(event.cause()).as(as).contains("a record");
            case OPENED, RESTED, READ, FINISHED, DUE, PAUSE, RESUME, STOP, CHANGE ->
                assertThat(event.cause()).as(as).isNull();
        }
        OptionalLong retry = before.retryMicros();
        if (retry.isPresent()) {
            if (cue == Cue.DUE) {
                assertThat(event.wallMicros()).as(as).isGreaterThanOrEqualTo(retry.getAsLong());
            } else {
                assertThat(event.wallMicros()).as(as).isLessThan(retry.getAsLong());
            }
        }
        assertThat(feeds.status(FEED).definition())
                .as(as)
                .isEqualTo(definition(FEED, cue == Cue.CHANGE ? 1 : 0));
    }

    private void bring(FeedManager feeds, FeedState to) {
        script.come = to == FeedState.RUNNING ? Integer.MAX_VALUE : 5;
        feeds.start(definition(FEED, 0), Path.of("."));
        switch (to) {
            case STARTING -> {}
            case RUNNING, WAITING -> await(feeds, to);
            case PAUSED -> {
                await(feeds, FeedState.WAITING);
                feeds.pause(FEED);
            }
            case RETRYING, FAILED -> {
                await(feeds, FeedState.WAITING);
                give(feeds, to == FeedState.FAILED ? Cue.FAILURE : Cue.TROUBLE, FeedState.WAITING);
                await(feeds, to);
            }
            case ENDED -> {
                await(feeds, FeedState.WAITING);
                feeds.stop(FEED);
            }
        }
    }

    private void await(FeedManager feeds, FeedState state) {
        tasks.await(() -> feeds.status(FEED).state() == state);
    }

    private void give(FeedManager feeds, Cue cue, FeedState from) {
        switch (cue) {
            case OPENED, DUE -> {} // it comes by itself
            case RESTED -> script.come = 0;
            case READ -> script.come = Integer.MAX_VALUE;
            case FINISHED -> {
                script.come = 0;
                script.hasEnded = true;
            }
            case TROUBLE ->
                fail(
                        from,
                        () -> script.troubleIn = 1,
                        new StorageIoException(
                                StorageIoException.Kind.IO,
                                "read",
                                "the source",
                                "it is away",
                                null));
            case FAILURE ->
                fail(
                        from,
                        () -> script.failureIn = 1,
                        new CorruptionException("the source", 0, "a record", "one", "none"));
            case PAUSE -> feeds.pause(FEED);
            case RESUME -> feeds.resume(FEED);
            case STOP -> feeds.stop(FEED);
            case CHANGE -> feeds.change(definition(FEED, 1), Path.of("."));
        }
    }

    /** It fails where its run begins, or where it reads. */
    private void fail(FeedState from, Runnable whereItReads, RuntimeException whereItBegins) {
        if (from == FeedState.STARTING) {
            script.onCount = () -> {
                throw whereItBegins;
            };
        } else {
            whereItReads.run();
            script.come = script.come == Integer.MAX_VALUE ? script.come : script.come + 1;
        }
    }
}
