package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.agree.Mail;
import io.turbidite.feeds.cluster.agree.Message;
import io.turbidite.feeds.cluster.agree.MessageCodec;
import io.turbidite.feeds.cluster.agree.Misfit;
import io.turbidite.feeds.cluster.agree.NodeLog;
import io.turbidite.feeds.cluster.agree.Stamp;
import io.turbidite.feeds.cluster.change.ClusterMap;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A node's copy of the log of changes at work: messages come in and go out as bytes, and it says
 * now and then that it is there. What its disk or its store throws ends it ({@link #failure}):
 * close it, and open log and store again. <em>Thread-safe.</em>
 */
public final class NodeRun implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(NodeRun.class.getName());

    private final NodeLog log;
    private final Mail mail;
    private final Turns turns;
    private final AtomicLong refused = new AtomicLong();
    private volatile State state;

    /** Mail of the turn that is under way. */
    private final List<Runnable> held = new ArrayList<>();

    private record State(
            ClusterMap map,
            Stamp stamp,
            boolean isServing,
            @Nullable Misfit misfit) {}

    /**
     * Starts, and registers.
     *
     * @param log closed with it
     * @param every how often it says that it is there
     */
    public NodeRun(String node, NodeLog log, Post post, Tasks tasks, Clock clock, Duration every) {
        this.log = log;
        this.mail = (to, message) -> {
            byte[] encoded = MessageCodec.encode(message);
            held.add(() -> post.send(to, encoded));
        };
        this.state = stateNow();
        this.turns = new Turns("cluster-node-" + node, tasks, clock, every, this::again);
    }

    /** A message of the controller has come. */
    public void arrived(byte[] bytes) {
        Message message;
        try {
            message = MessageCodec.decode(bytes);
        } catch (InvalidRequestException e) {
            refuse(e.getMessage());
            return;
        }
        if (!isOfControllers(message)) {
            refuse("a controller does not send a %s"
                    .formatted(message.getClass().getSimpleName()));
            return;
        }
        turns.offer(() -> turn(() -> log.receive(message, mail)));
    }

    /** What it says is true for who asks: its state is shown before its mail leaves. */
    private void turn(Runnable work) {
        work.run();
        state = stateNow();
        held.forEach(Runnable::run);
        held.clear();
    }

    private static boolean isOfControllers(Message message) {
        return switch (message) {
            case Message.Welcome _,
                    Message.Entries _,
                    Message.Prepare _,
                    Message.Abandon _,
                    Message.Show _,
                    Message.Unfit _ -> true;
            case Message.Hello _,
                    Message.Holds _,
                    Message.Prepared _,
                    Message.Unprepared _,
                    Message.Shown _ -> false;
        };
    }

    private void refuse(@Nullable String why) {
        refused.incrementAndGet();
        LOG.log(System.Logger.Level.WARNING, "a message of the controller is dropped: {0}", why);
    }

    private void again() {
        turn(() -> log.again(mail));
    }

    private State stateNow() {
        return new State(log.map(), log.stamp(), log.isServing(), log.refused());
    }

    /** What its copy makes. */
    public ClusterMap map() {
        return state.map();
    }

    /** Of the last change in its copy. */
    public long number() {
        return state.stamp().number();
    }

    /** Whether it is registered and has what the controller had when it welcomed it. */
    public boolean isServing() {
        return turns.failure() == null && state.isServing();
    }

    /**
     * Why a job or piece with this stamp is refused; null if it may be taken. Who is refused takes
     * the stamp of now and tries once more.
     */
    public @Nullable Misfit misfit(Stamp sent) {
        State now = state;
        return sent.misfitOfWork(now.stamp(), turns.failure() == null && now.isServing());
    }

    /** Why the controller does not register it; null if it does, or was not heard. */
    public @Nullable Misfit misfit() {
        return state.misfit();
    }

    /** What has ended it; null: it works. */
    public @Nullable Throwable failure() {
        return turns.failure();
    }

    /** Messages that were dropped since they could not be read. */
    public long refusedCount() {
        return refused.get();
    }

    /** Stops, and closes the copy; the store stays open. */
    @Override
    public void close() {
        turns.close();
        log.close();
    }
}
