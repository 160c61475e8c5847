package io.turbidite.feeds.manage;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent.FeedChanged;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.FeedTurns;
import io.turbidite.feeds.FunctionPauseException;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.manage.FeedState.Cue;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.ParcelSource;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.feeds.store.OvertakenException;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
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
    /** How soon a source without news is asked for some; each time in vain, twice as late. */
    private static final long WAIT_MICROS = 2_000;

    /**
     * How late at most: a feed at rest then wakes 40 times a second. Who hands a parcel in, as over
     * HTTP, wakes it at once; of a file, and of a topic, it hears when it asks.
     */
    private static final long WAIT_MICROS_MAX = 25_000;

    /** How often a store that is behind is asked: its ring of batches lasts some milliseconds. */
    private static final long FULL_MICROS = 250;

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

    /**
     * A definition, as it is kept and as it is read.
     *
     * @param definition null if it was right once, and is no more
     */
    record Defined(KeptDefinition kept, @Nullable FeedDefinition definition) {
        String dataset() {
            return definition == null ? "" : definition.dataset().name();
        }

        /** The definition; if it is not right, this says what is wrong. */
        FeedDefinition read() {
            return definition == null
                    ? FeedDefinition.parse(kept.feed(), Path.of(kept.directory()), kept.text())
                    : definition;
        }
    }

    private final Shared shared;
    private final String name;
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
    private @Nullable Retry retry;
    private Counts before = Counts.NONE;
    private Counts current = Counts.NONE;

    // of the worker alone
    private @Nullable FeedTurns turns;
    private boolean isFull;
    private long waitMicros = WAIT_MICROS;

    /** Whether the last turn rested, and the source is asked for news right away. */
    private boolean asksAgain;

    private boolean finished;
    private int failures;

    /** Dead letters that are fed again, between runs of the feed. */
    private static final class Retry {
        /** Of the worker. */
        private boolean isBegun;

        // guarded by the feed
        private @Nullable FeedReport report;
        private @Nullable Throwable failure;

        boolean isDone() {
            return report != null || failure != null;
        }
    }

    /** What was counted; of one run, or of all before it. */
    private record Counts(
            long records,
            long rejected,
            long dropped,
            long spilled,
            long spillBytes,
            long bytes,
            OptionalLong lagBytes,
            int workers) {
        static final Counts NONE = of(OptionalLong.empty(), 0);

        /** Of a run that has not begun: what the one before has left. */
        static Counts of(OptionalLong lagBytes, long spillBytes) {
            return new Counts(0, 0, 0, 0, spillBytes, 0, lagBytes, 0);
        }

        /** With what a run says of itself. */
        Counts with(FeedReport report, long waiting) {
            return new Counts(
                    report.records(),
                    report.rejected(),
                    report.dropped(),
                    report.spilled(),
                    waiting,
                    bytes,
                    lagBytes,
                    workers);
        }

        Counts plus(Counts more) {
            return new Counts(
                    records + more.records,
                    rejected + more.rejected,
                    dropped + more.dropped,
                    spilled + more.spilled,
                    more.spillBytes,
                    bytes + more.bytes,
                    more.lagBytes,
                    more.workers);
        }
    }

    private ManagedFeed(Shared shared, Defined defined) {
        this.shared = shared;
        this.name = defined.kept.feed();
        this.defined = defined;
        this.sinceMicros = shared.clock().wallMicros();
    }

    /** A feed that does what its kept definition says it is to do. */
    static ManagedFeed start(Shared shared, Defined defined) {
        ManagedFeed feed = new ManagedFeed(shared, defined);
        FeedState first = switch (defined.kept.wanted()) {
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
        Counts counts = before.plus(current);
        return new FeedStatus(
                name,
                defined.dataset(),
                state,
                sinceMicros,
                counts.records,
                counts.rejected,
                counts.dropped,
                counts.spilled,
                counts.spillBytes,
                counts.bytes,
                counts.lagBytes,
                counts.workers,
                state == FeedState.RETRYING ? OptionalLong.of(retryMicros) : OptionalLong.empty(),
                cause,
                feed == null ? List.of() : feed.stages(),
                defined.kept.text(),
                defined.kept.directory());
    }

    synchronized Defined defined() {
        return defined;
    }

    /** What is wanted of it from now on. */
    synchronized void setKept(KeptDefinition kept) {
        defined = new Defined(kept, defined.definition);
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
            why = retry != null && state.isActive()
                    ? "feed %s feeds its dead letters again".formatted(name)
                    : "feed %s is %s%s".formatted(name, state.label(), reason());
        }
        if (to == null) {
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
        return of == null ? -1 : of.durableTo(owner, producer);
    }

    private synchronized String reason() {
        return cause == null || state.isActive() ? "" : ": " + cause;
    }

    synchronized FeedState state() {
        return state;
    }

    /** Feeds the dead letters again, and waits until that is done. */
    FeedReport retryLetters() {
        Retry wanted = new Retry();
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
            if (wanted.report != null) {
                return wanted.report;
            }
            switch (wanted.failure) {
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                case null, default -> throw new ClosedException("the manager of feeds");
            }
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
        FeedState last;
        synchronized (this) {
            last = state;
        }
        tell(last.label(), "", null);
    }

    private void wake() {
        Tasks.Worker resting = worker;
        if (resting != null) {
            resting.wake();
        }
    }

    private long idleMicros() {
        synchronized (this) {
            if (retry != null) {
                return FULL_MICROS;
            }
            return switch (state) {
                case STARTING, RUNNING -> FULL_MICROS;
                case WAITING -> isFull ? FULL_MICROS : waitMicros;
                case RETRYING ->
                    Math.max(
                            WAIT_MICROS,
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
        Retry letters;
        synchronized (this) {
            letters = retry;
            cue = asked;
            now = state;
            ends = closing;
        }
        try {
            FeedTurns running = turns;
            if ((ends || cue != null || finished) && running != null && !running.isDelivered()) {
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
            if (finished) {
                endRun();
                failures = 0;
                move(Cue.FINISHED, null);
                return false;
            }
            return switch (now) {
                case STARTING -> startRun();
                case RUNNING, WAITING -> turn(now);
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
        synchronized (this) {
            feed = opened;
            if (asked != null || closing) {
                return true; // the next step ends it
            }
        }
        turns = opened.begin(this::count);
        move(Cue.OPENED, null);
        return true;
    }

    private boolean turn(FeedState now) {
        FeedTurns running = turns;
        if (running == null || (isFull && !running.hasRoom())) {
            return false;
        }
        if (!isFull && now == FeedState.WAITING && !running.hasNews()) {
            waitMicros = Math.min(2 * waitMicros, WAIT_MICROS_MAX);
            asksAgain = false;
            return false;
        }
        boolean wasFull = isFull;
        isFull = false;
        return switch (running.next()) {
            case READ -> {
                waitMicros = WAIT_MICROS;
                asksAgain = false;
                if (failures > 0 && running.report().records() > 0) {
                    failures = 0;
                }
                if (now == FeedState.WAITING) {
                    move(Cue.READ, null);
                }
                yield true;
            }
            case RESTED -> {
                failures = 0;
                if (now == FeedState.RUNNING) {
                    FeedReport report = running.report();
                    synchronized (this) {
                        current = current.with(report, 0);
                    }
                    move(Cue.RESTED, null);
                }
                // who woke it while it was full has woken it for this; once, for a source may
                // always say that it has news
                asksAgain = wasFull && !asksAgain;
                yield asksAgain;
            }
            case FULL -> {
                isFull = true;
                waitMicros = WAIT_MICROS; // something has come, or has gone
                yield false;
            }
            case FINISHED -> {
                finished = true; // the next steps wait until it is delivered
                yield true;
            }
            case STOPPED -> {
                yield true; // the next step knows who asked for it
            }
        };
    }

    /** A step of feeding letters again: ends the run, is a run of its own, and ends that. */
    private boolean retryStep(Retry letters, FeedState now) {
        try {
            FeedTurns running = turns;
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
            if (running == null || !finished) {
                switch (Objects.requireNonNull(running).next()) {
                    case FINISHED -> finished = true;
                    case FULL, RESTED -> {
                        return false;
                    }
                    case READ, STOPPED -> {}
                }
                return true;
            }
            if (!running.isDelivered()) {
                return false;
            }
            endRun();
            FeedReport report = running.report();
            endRetry(() -> letters.report = report, now);
        } catch (RuntimeException | Error e) {
            try {
                endRun();
            } catch (RuntimeException | Error also) {
                if (!also.equals(e)) {
                    e.addSuppressed(also);
                }
            }
            endRetry(() -> letters.failure = e, now);
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
        turns = opened.begin(FeedProgress.none());
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
        FeedTurns ended = turns;
        turns = null;
        finished = false;
        isFull = false;
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
                total(ended);
                shared.tasks().signal();
            }
        }
    }

    private synchronized void total(@Nullable FeedTurns ended) {
        if (ended != null) {
            boolean ofLetters =
                    retry != null && retry.isBegun; // has no spill, and leaves the feed's
            long waiting = ofLetters ? before.spillBytes : ended.spillBytes();
            before = before.plus(current.with(ended.report(), waiting));
        }
        current = Counts.of(before.lagBytes, before.spillBytes);
        open = false;
    }

    private void count(long records, long rejected, long sourceBytes, long sourceBytesTotal) {
        FeedTurns running = turns;
        long dropped = running == null ? 0 : running.dropped();
        long spilled = running == null ? 0 : running.spilled();
        long spillBytes = running == null ? 0 : running.spillBytes();
        synchronized (this) {
            current = new Counts(
                    records,
                    rejected,
                    dropped,
                    spilled,
                    spillBytes,
                    sourceBytes,
                    sourceBytesTotal == 0
                            ? OptionalLong.empty()
                            : OptionalLong.of(Math.max(0, sourceBytesTotal - sourceBytes)),
                    running == null ? 0 : running.workers());
        }
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
        } else if (mayPass(failure)) {
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

    /** Whether another try may find it mended. */
    private static boolean mayPass(Throwable failure) {
        return failure instanceof StorageIoException
                || failure instanceof CacheFullException
                || failure instanceof QueryMemoryException
                || failure instanceof OvertakenException;
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
