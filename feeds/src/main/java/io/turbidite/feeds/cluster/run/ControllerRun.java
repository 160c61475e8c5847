package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.agree.ControllerLog;
import io.turbidite.feeds.cluster.agree.ControllerLog.Outcome;
import io.turbidite.feeds.cluster.agree.Mail;
import io.turbidite.feeds.cluster.agree.Message;
import io.turbidite.feeds.cluster.agree.MessageCodec;
import io.turbidite.feeds.cluster.agree.Stamp;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A controller's log of changes at work: messages come in and go out as bytes, time passes, and who
 * wants a change waits for what becomes of it. <em>Thread-safe.</em>
 */
public final class ControllerRun implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ControllerRun.class.getName());

    /** More than that is not kept: who needs it sends it again. */
    private static final long WAITING_BYTES_MAX = 32 << 20;

    private final ControllerLog log;
    private final Post post;
    private final Clock clock;
    private final Settings settings;
    private final Turns turns;
    private final Mail mail;
    private final AtomicLong refused = new AtomicLong();

    /** Of messages that have come and were not looked at. */
    private final AtomicLong waitingBytes = new AtomicLong();

    /** When each node was heard last; by the worker alone. */
    private final Map<String, Long> heard = new HashMap<>();

    /** Whoever waits; by the worker alone. */
    private @Nullable Request underWay;

    private volatile State state;

    /**
     * How long things take.
     *
     * @param every after which messages that may have been lost are sent again
     * @param silence after which a node that says nothing is away
     */
    public record Settings(Duration every, Duration silence) {
        /** A second, and ten, as the engine's signs of life have. */
        public static Settings defaults() {
            return new Settings(Duration.ofSeconds(1), Duration.ofSeconds(10));
        }
    }

    private record State(
            ClusterMap map,
            long number,
            List<String> behind,
            Map<String, Stamp> stamps,
            @Nullable String stop) {}

    /** A change that somebody waits for. */
    private static final class Request {
        final Change change;
        final Duration limit;
        final long endNanos;
        volatile long number;
        volatile @Nullable StorageException failure;

        Request(Change change, Duration limit, long endNanos) {
            this.change = change;
            this.limit = limit;
            this.endNanos = endNanos;
        }

        boolean isDone() {
            return number > 0 || failure != null;
        }
    }

    /**
     * Starts.
     *
     * @param log closed with it
     */
    public ControllerRun(
            ControllerLog log, Post post, Tasks tasks, Clock clock, Settings settings) {
        this.log = log;
        this.post = post;
        this.clock = clock;
        this.settings = settings;
        this.mail = (to, message) -> this.post.send(to, MessageCodec.encode(message));
        this.state = stateNow();
        this.turns = new Turns("cluster-controller", tasks, clock, settings.every(), this::again);
    }

    /**
     * A message of a node has come.
     *
     * @param node who has sent it, as its certificate says
     */
    public void arrived(String node, byte[] bytes) {
        Message message;
        try {
            message = MessageCodec.decode(bytes);
        } catch (InvalidRequestException e) {
            refuse(node, e.getMessage());
            return;
        }
        if (!isOfNodes(message)) {
            refuse(
                    node,
                    "a node does not send a %s".formatted(message.getClass().getSimpleName()));
            return;
        }
        if (waitingBytes.addAndGet(bytes.length) > WAITING_BYTES_MAX) {
            // it is sent again
            waitingBytes.addAndGet(-bytes.length);
            return;
        }
        boolean isTaken = turn(() -> {
            waitingBytes.addAndGet(-bytes.length);
            heard.put(node, clock.monotonicNanos());
            log.receive(node, message, mail);
        });
        if (!isTaken) {
            waitingBytes.addAndGet(-bytes.length);
        }
    }

    private static boolean isOfNodes(Message message) {
        return switch (message) {
            case Message.Hello _,
                    Message.Holds _,
                    Message.Prepared _,
                    Message.Unprepared _,
                    Message.Unfit _,
                    Message.Shown _ -> true;
            case Message.Welcome _,
                    Message.Entries _,
                    Message.Prepare _,
                    Message.Abandon _,
                    Message.Show _ -> false;
        };
    }

    private void refuse(String node, @Nullable String why) {
        refused.incrementAndGet();
        LOG.log(
                System.Logger.Level.WARNING,
                "a message of node ''{0}'' is dropped: {1}",
                node,
                why);
    }

    /** A node has left, or its connection has: it is away until it registers. */
    public void left(String node) {
        turn(() -> log.lost(node));
    }

    private boolean turn(Runnable what) {
        return turns.offer(() -> {
            what.run();
            look();
        });
    }

    private void again() {
        long now = clock.monotonicNanos();
        heard.entrySet().removeIf(each -> {
            boolean isSilent = now - each.getValue() >= settings.silence().toNanos();
            if (isSilent) {
                log.lost(each.getKey());
            }
            return isSilent;
        });
        log.again(mail);
        look();
    }

    /** What has become of the change, and what others may read of it. */
    private void look() {
        Request request = underWay;
        if (request != null) {
            if (log.outcome() instanceof Outcome.UnderWay
                    && clock.monotonicNanos() - request.endNanos >= 0) {
                log.giveUp(
                        "not all nodes were ready within %d ms: %s"
                                .formatted(
                                        request.limit.toMillis(),
                                        String.join(", ", log.unprepared())),
                        mail);
            }
            switch (log.outcome()) {
                case Outcome.UnderWay _ -> {
                    // it waits for nodes
                }
                case Outcome.Recorded recorded -> {
                    underWay = null;
                    state = stateNow();
                    request.number = recorded.number();
                }
                case Outcome.Refused no -> {
                    underWay = null;
                    request.failure = new InvalidRequestException(
                            "can't %s: %s".formatted(request.change.describe(), no.why()));
                }
            }
        }
        state = stateNow();
    }

    private State stateNow() {
        return new State(log.map(), log.number(), log.behind(), log.stamps(), log.stopped());
    }

    /**
     * Makes a change; it has happened when this returns.
     *
     * @param limit after which it is given up, from this call on; 0 to 292 years
     * @return its number
     * @throws InvalidRequestException saying why it has not happened: it does not fit, a node
     *     can't, or is away, another change is under way, or the limit is none
     * @throws StoreFailedException if the controller has stopped, or has failed meanwhile: it may
     *     have happened then
     */
    public long change(Change change, Duration limit) {
        Entry.checkEncodes(change);
        Request request = new Request(change, limit, clock.monotonicNanos() + nanos(change, limit));
        boolean isTaken = turn(() -> begin(request));
        if (isTaken) {
            turns.await(request::isDone);
        }
        if (request.number > 0) {
            return request.number;
        }
        StorageException failure = request.failure;
        if (failure != null) {
            throw failure;
        }
        Throwable cause = turns.failure();
        throw new StoreFailedException(
                cause == null
                        ? "can't %s: the controller was closed, or has too much to do"
                                .formatted(change.describe())
                        : "the controller has failed; whether it could %s is known when it has been started again: %s"
                                .formatted(change.describe(), cause.getMessage()),
                cause);
    }

    private static long nanos(Change change, Duration limit) {
        try {
            long nanos = limit.toNanos();
            if (nanos >= 0) {
                return nanos;
            }
        } catch (ArithmeticException e) {
            throw new InvalidRequestException(noLimit(change, limit), e);
        }
        throw new InvalidRequestException(noLimit(change, limit));
    }

    private static String noLimit(Change change, Duration limit) {
        return "can't %s: its limit may be 0 to 292 years, and not %s"
                .formatted(change.describe(), limit);
    }

    private void begin(Request request) {
        try {
            log.propose(request.change, mail);
            underWay = request;
        } catch (InvalidRequestException e) {
            request.failure = e;
        } catch (StoreFailedException e) {
            if (log.stopped() == null) {
                throw e;
            }
            request.failure = e;
        }
    }

    /** What all changes make. */
    public ClusterMap map() {
        return state.map();
    }

    /** Of the last change. */
    public long number() {
        return state.number();
    }

    /** The nodes that have not said yet that they have all changes. */
    public List<String> behind() {
        return state.behind();
    }

    /**
     * The map, and the stamps of jobs and pieces that are made by it.
     *
     * @param stamps by node; those that are away have none
     */
    public record Stamped(ClusterMap map, Map<String, Stamp> stamps) {}

    /** The map as of one moment, with its stamps. */
    public Stamped stamped() {
        State now = state;
        return new Stamped(now.map(), now.stamps());
    }

    /** Waits until all nodes that are there have all changes, or this time is over. */
    public void awaitAll(Duration limit) {
        if (areLevel()) {
            return;
        }
        long begun = clock.monotonicNanos();
        turns.await(() -> areLevel() || clock.monotonicNanos() - begun >= limit.toNanos());
    }

    private boolean areLevel() {
        State now = state;
        return now.behind().stream().noneMatch(now.stamps()::containsKey);
    }

    /** Why it records nothing any more; null: it does. */
    public @Nullable String stopped() {
        Throwable failure = turns.failure();
        return failure == null ? state.stop() : "it has failed: " + failure.getMessage();
    }

    /** Messages that were dropped since they could not be read. */
    public long refusedCount() {
        return refused.get();
    }

    /** Stops, and closes the log. */
    @Override
    public void close() {
        turns.close();
        log.close();
    }
}
