package io.turbidite.feeds.manage;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent.FeedChanged;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.FeedTurns;
import io.turbidite.feeds.FunctionPauseException;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.manage.FeedState.Cue;
import io.turbidite.feeds.manage.KeptDefinition.Wanted;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.ParcelSource;
import io.turbidite.feeds.source.parcel.Producers;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;

/**
 * One feed of a manager: a worker that reads on in small steps, and takes what is asked of the feed
 * between them.
 *
 * <p>State and requests are guarded by the lock of this object, which is never held while anything
 * is waited for or a listener is told; the run itself belongs to the worker. <em>Thread-safe.</em>
 */
final class ManagedFeed {
    /** A feed that does nothing is woken when something is asked of it. */
    private static final long REST_MICROS = 3_600_000_000L;

    /** What all feeds of a manager have in common. */
    record Shared(Store store, RandomGenerator jitter, Semaphore opening) {
        Tasks tasks() {
            return store.environment().tasks();
        }

        Clock clock() {
            return store.environment().clock();
        }
    }

    private final Shared shared;
    private final String name;
    private final FeedCounts counts = new FeedCounts();
    private final Producers producers;
    private volatile Tasks.@Nullable Worker worker;

    // guarded by this
    private Defined defined;
    private @Nullable Defined changed;
    private FeedState state = FeedState.STARTING;
    private long sinceMicros;
    private long retryNanos;
    private long retryMicros;
    private @Nullable String cause;
    private @Nullable Cue asked;
    private @Nullable Feed feed;
    private boolean closing;
    private boolean open;
    private @Nullable LetterRetry retry;

    // of the worker alone
    private @Nullable ManagedRun run;
    private int failures;

    private ManagedFeed(Shared shared, Defined defined) {
        this.shared = shared;
        this.name = defined.kept().feed();
        this.defined = defined;
        this.producers = new Producers(shared.clock());
        this.sinceMicros = shared.clock().wallMicros();
    }

    /** A feed that does what its kept definition says it is to do. */
    static ManagedFeed start(Shared shared, Defined defined) {
        ManagedFeed feed = new ManagedFeed(shared, defined);
        FeedState first = switch (defined.kept().wanted()) {
            case RUN -> FeedState.STARTING;
            case PAUSE -> FeedState.PAUSED;
            case STOP -> FeedState.ENDED;
        };
        synchronized (feed) {
            feed.state = first;
        }
        feed.show();
        feed.tell("", first.label(), null);
        feed.worker = shared.tasks().start("manage-" + feed.name, feed::idleMicros, feed::step);
        return feed;
    }

    /** What no run counts. */
    private void show() {
        Meters meters = shared.store().meters().scope(FeedMeters.FEED_TAG, name);
        meters.gauge("feed.state", () -> status().state().figure);
        meters.total("feed.dropped", () -> status().dropped());
    }

    String name() {
        return name;
    }

    synchronized FeedStatus status() {
        FeedCounts.Counts all = counts.all();
        return new FeedStatus(
                name,
                defined.dataset(),
                state,
                state == FeedState.ENDED && defined.kept().wanted() == Wanted.STOP,
                sinceMicros,
                all.records(),
                all.rejected(),
                all.dropped(),
                all.spilled(),
                all.spillBytes(),
                all.bytes(),
                all.lagBytes(),
                all.workers(),
                defined.namesWorkers(),
                state == FeedState.RETRYING ? OptionalLong.of(retryMicros) : OptionalLong.empty(),
                cause,
                feed == null ? List.of() : feed.stages(),
                defined.kept().text(),
                defined.kept().directory());
    }

    synchronized Defined defined() {
        return defined;
    }

    /** What is wanted of it from now on. */
    synchronized void setKept(KeptDefinition kept) {
        defined = new Defined(kept, defined.definition());
    }

    /** Has it go on by another definition, from the end of a batch on. */
    void change(Defined to) {
        synchronized (this) {
            changed = to;
        }
        ask(Cue.CHANGE);
    }

    /**
     * Refuses what can't be asked of it as it is.
     *
     * @throws InvalidRequestException saying how it is
     */
    synchronized void check(Cue cue) {
        if (state.after(cue) == null) {
            throw new InvalidRequestException(
                    "feed %s is %s already".formatted(name, state.label()));
        }
    }

    /**
     * Has the feed pause, resume or stop, and waits until it does: to the end of a batch. What has
     * ended by itself meanwhile stays so.
     */
    void ask(Cue cue) {
        Feed running;
        synchronized (this) {
            if (state.after(cue) == null) {
                takeChange();
                return;
            }
            asked = cue;
            running = feed;
        }
        if (running != null && cue != Cue.RESUME) {
            running.stop();
        }
        wake();
        shared.tasks().await(() -> {
            synchronized (this) {
                return asked != cue || closing;
            }
        });
    }

    /** Hands a parcel in, if the feed takes any now. */
    Ticket offer(Parcel parcel, @Nullable Runnable whenSettled) {
        ParcelSource to;
        String why;
        synchronized (this) {
            to = feed == null || closing ? null : feed.parcels();
            why = to != null ? "" : state.whyAway(name, closing, retry != null, cause);
        }
        if (to == null) {
            producers.see(parcel);
            return Ticket.refused(parcel, new Receipt.Away(why));
        }
        Ticket ticket = to.offer(parcel, whenSettled);
        wake();
        return ticket;
    }

    /** -1 if the feed takes no parcels now. */
    long durableTo(String owner, String producer) {
        ParcelSource of;
        synchronized (this) {
            of = feed == null || closing ? null : feed.parcels();
        }
        return of == null ? producers.ask(owner, producer) : of.durableTo(owner, producer);
    }

    synchronized FeedState state() {
        return state;
    }

    /** Feeds the dead letters again, and waits until that is done. */
    FeedReport retryLetters() {
        LetterRetry wanted = new LetterRetry();
        Feed running;
        synchronized (this) {
            retry = wanted;
            running = feed;
        }
        if (running != null) {
            running.stop();
        }
        wake();
        shared.tasks().await(() -> {
            synchronized (this) {
                return wanted.isDone() || closing;
            }
        });
        synchronized (this) {
            return wanted.result();
        }
    }

    /** Ends the run at a batch, without telling: the manager is being closed. */
    void closeSoon() {
        Feed running;
        synchronized (this) {
            closing = true;
            running = feed;
        }
        if (running != null) {
            running.stop();
        }
        wake();
    }

    /** Waits until the run has ended. */
    void awaitClosed() {
        shared.tasks().await(() -> {
            synchronized (this) {
                return !open;
            }
        });
        Tasks.Worker ended = worker;
        if (ended != null) {
            ended.close();
        }
    }

    void tellDropped() {
        tell(state().label(), "", null);
    }

    private void wake() {
        Tasks.Worker resting = worker;
        if (resting != null) {
            resting.wake();
        }
    }

    private long idleMicros() {
        ManagedRun running = run;
        synchronized (this) {
            if (retry != null) {
                return ManagedRun.FULL_MICROS;
            }
            return switch (state) {
                case STARTING, RUNNING -> ManagedRun.FULL_MICROS;
                case WAITING -> running == null ? ManagedRun.WAIT_MICROS : running.waitMicros();
                case RETRYING ->
                    Math.max(
                            ManagedRun.WAIT_MICROS,
                            (retryNanos - shared.clock().monotonicNanos()) / 1_000 + 1);
                case PAUSED, FAILED, ENDED -> REST_MICROS;
            };
        }
    }

    /** A step of the worker. */
    private boolean step() {
        Cue cue;
        FeedState now;
        boolean ends;
        LetterRetry letters;
        synchronized (this) {
            letters = retry;
            cue = asked;
            now = state;
            ends = closing;
        }
        try {
            ManagedRun running = run;
            boolean hasFinished = running != null && running.hasFinished();
            if ((ends || cue != null || hasFinished) && running != null && !running.isDelivered()) {
                return false;
            }
            if (ends) {
                endRun();
                return false;
            }
            if (letters != null) {
                return retryStep(letters, now);
            }
            if (cue != null) {
                endRun();
                move(cue, null);
                return true;
            }
            if (hasFinished) {
                endRun();
                forgetFailures();
                move(Cue.FINISHED, null);
                return false;
            }
            return switch (now) {
                case STARTING -> startRun();
                case RUNNING, WAITING -> running != null && turn(running, now);
                case RETRYING -> retry();
                case PAUSED, FAILED, ENDED -> false;
            };
        } catch (RuntimeException | Error e) {
            fail(e);
            return true;
        }
    }

    private boolean startRun() {
        // one at a time: two of them may be about to create the same dataset
        if (!shared.opening().tryAcquire()) {
            return false;
        }
        Feed opened;
        try {
            Defined wanted;
            synchronized (this) {
                wanted = defined;
                open = true;
            }
            opened = Feed.open(wanted.read(), shared.store());
        } finally {
            shared.opening().release();
        }
        opened.remembers(producers);
        synchronized (this) {
            feed = opened;
            if (asked != null || closing) {
                return true; // the next step ends it
            }
        }
        FeedTurns begun = opened.begin(this::count);
        run = new ManagedRun(begun);
        counts.begin(begun);
        move(Cue.OPENED, null);
        return true;
    }

    private boolean turn(ManagedRun running, FeedState now) {
        return switch (running.turn(now == FeedState.WAITING)) {
            case READ -> {
                if (failures > 0 && running.report().records() > 0) {
                    forgetFailures();
                }
                if (now == FeedState.WAITING) {
                    move(Cue.READ, null);
                }
                yield true;
            }
            case RESTED -> {
                forgetFailures();
                if (now == FeedState.RUNNING) {
                    counts.rest(running.report());
                    move(Cue.RESTED, null);
                }
                yield running.asksAgain();
            }
            case WAITS -> false;
            case FINISHED, STOPPED -> true; // the next steps end it
        };
    }

    /** It works: what it last failed of is no news any more. */
    private synchronized void forgetFailures() {
        failures = 0;
        cause = null;
    }

    /** A step of feeding letters again: ends the run, is a run of its own, and ends that. */
    private boolean retryStep(LetterRetry letters, FeedState now) {
        try {
            ManagedRun running = run;
            if (!letters.isBegun) {
                if (running != null && !running.isDelivered()) {
                    return false;
                }
                endRun();
                if (!shared.opening().tryAcquire()) {
                    return false;
                }
                letters.isBegun = true;
                try {
                    openLetters();
                } finally {
                    shared.opening().release();
                }
                return true;
            }
            if (!Objects.requireNonNull(running).hasFinished()) {
                return switch (running.turn(false)) {
                    case WAITS, RESTED -> false;
                    case READ, FINISHED, STOPPED -> true;
                };
            }
            if (!running.isDelivered()) {
                return false;
            }
            endRun();
            FeedReport report = running.report();
            endRetry(() -> letters.end(report), now);
        } catch (RuntimeException | Error e) {
            try {
                endRun();
            } catch (RuntimeException | Error also) {
                if (!also.equals(e)) {
                    e.addSuppressed(also);
                }
            }
            endRetry(() -> letters.fail(e), now);
        }
        return true;
    }

    private void openLetters() {
        Defined wanted;
        synchronized (this) {
            wanted = defined;
            open = true;
        }
        Feed opened = Feed.openLetters(wanted.read(), shared.store());
        boolean stops;
        synchronized (this) {
            feed = opened;
            stops = closing;
        }
        if (stops) {
            opened.stop();
        }
        run = new ManagedRun(opened.begin(FeedProgress.none()));
    }

    private void endRetry(Runnable result, FeedState now) {
        synchronized (this) {
            result.run();
            retry = null;
        }
        if (now.isActive() && now != FeedState.STARTING) {
            move(Cue.CHANGE, null); // its run was ended
        }
        shared.tasks().signal();
    }

    private boolean retry() {
        synchronized (this) {
            if (retryNanos - shared.clock().monotonicNanos() > 0) {
                return false;
            }
        }
        move(Cue.DUE, null);
        return true;
    }

    /** Delivers what was read, and lets go of the source; does nothing if there is no run. */
    private void endRun() {
        ManagedRun ended = run;
        run = null;
        Feed opened;
        synchronized (this) {
            opened = feed;
            feed = null;
        }
        try {
            if (ended != null) {
                ended.close();
            }
        } finally {
            try {
                if (opened != null) {
                    opened.close();
                }
            } finally {
                synchronized (this) {
                    boolean isOfLetters = retry != null && retry.isBegun;
                    counts.end(ended == null ? null : ended.turns(), isOfLetters);
                    open = false;
                }
                shared.tasks().signal();
            }
        }
    }

    private void count(long records, long rejected, long sourceBytes, long sourceBytesTotal) {
        FeedTurns running = run == null ? null : run.turns();
        counts.count(running, records, rejected, sourceBytes, sourceBytesTotal);
    }

    private void fail(Throwable failure) {
        try {
            endRun();
        } catch (RuntimeException | Error e) {
            if (!e.equals(failure)) {
                failure.addSuppressed(e);
            }
        }
        failures++;
        Cue heard;
        synchronized (this) {
            if (closing) {
                return;
            }
            heard = asked;
        }
        String why = String.valueOf(failure.getMessage());
        if (heard != null) {
            move(heard, why); // it is to end anyway
        } else if (failure instanceof FunctionPauseException) {
            move(Cue.PAUSE, why);
        } else if (BackOff.mayPass(failure)) {
            long waitMicros = BackOff.micros(failures, shared.jitter());
            synchronized (this) {
                retryNanos = shared.clock().monotonicNanos() + waitMicros * 1_000;
                retryMicros = shared.clock().wallMicros() + waitMicros;
            }
            move(Cue.TROUBLE, why);
        } else {
            move(
                    Cue.FAILURE,
                    failure instanceof InvalidRequestException ? why : failure.toString());
        }
    }

    private void move(Cue cue, @Nullable String why) {
        FeedState from;
        FeedState to;
        synchronized (this) {
            from = state;
            to = state.after(cue);
            if (cue == asked) {
                asked = null;
            }
            if (cue == Cue.CHANGE) {
                takeChange();
            }
            if (to != null) {
                state = to;
                sinceMicros = shared.clock().wallMicros();
                if (why != null || cue == Cue.RESUME || cue == Cue.CHANGE) {
                    cause = why;
                }
            }
        }
        shared.tasks().signal();
        if (to == null) {
            return;
        }
        tell(from.label(), to.label(), why);
    }

    private synchronized void takeChange() {
        if (changed != null) {
            defined = changed;
            changed = null;
        }
    }

    private void tell(String from, String to, @Nullable String why) {
        shared.store()
                .events()
                .publish(new FeedChanged(
                        shared.clock().wallMicros(), name, status().dataset(), from, to, why));
    }
}
