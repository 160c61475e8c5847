package io.turbidite.feeds.cluster.agree;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.feeds.cluster.agree.Message.Abandon;
import io.turbidite.feeds.cluster.agree.Message.Entries;
import io.turbidite.feeds.cluster.agree.Message.Hello;
import io.turbidite.feeds.cluster.agree.Message.Holds;
import io.turbidite.feeds.cluster.agree.Message.Prepare;
import io.turbidite.feeds.cluster.agree.Message.Prepared;
import io.turbidite.feeds.cluster.agree.Message.Show;
import io.turbidite.feeds.cluster.agree.Message.Shown;
import io.turbidite.feeds.cluster.agree.Message.Unfit;
import io.turbidite.feeds.cluster.agree.Message.Unprepared;
import io.turbidite.feeds.cluster.agree.Message.Welcome;
import io.turbidite.feeds.cluster.change.ChangeLog;
import io.turbidite.feeds.cluster.change.ChangeLog.Keeper;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.change.Epoch;

import org.jspecify.annotations.Nullable;

/**
 * A node's copy of the log of changes, and its part in them. A state machine: messages in, messages
 * out.
 *
 * <p><em>Confined to one thread at a time.</em> What its disk or its schema throws ends it: open it
 * again. Invariants:
 *
 * <ol>
 *   <li>The copy holds what the controller has recorded, and no later than it; the schema holds
 *       what the copy does.
 *   <li>A node serves when it is registered and has what the controller had when it welcomed it.
 *   <li>A node that serves meets no change that it has not prepared in this registration or an
 *       earlier one of this process.
 *   <li>From the welcome of an epoch on, durably, nothing of an earlier one is taken: what a node
 *       has said to have is then all that it has of before.
 * </ol>
 */
public final class NodeLog implements AutoCloseable {
    private static final String OTHER_STORE = "one of the two is an old copy, or of another store;"
            + " put back the one that belongs to the other, or start the node with an empty store"
            + " and an empty directory of the cluster";

    private final ChangeLog log;
    private final NodeSchema schema;
    private final long process;

    /** What the changes make that the schema has; as of {@link #shownNumber}. */
    private ClusterMap shown = ClusterMap.EMPTY;

    private long shownNumber;

    /** In the log's epoch; 0 if there is none. */
    private long registration;

    /** The controller's number, as far as it was told. */
    private long target = Long.MAX_VALUE;

    /** The latest attempt of this epoch that was prepared, or could not be. */
    private long attempt;

    /** The latest attempt of this epoch that was given up. */
    private long abandoned;

    private boolean isPrepared;

    /** Why this attempt could not be prepared; null if it could, or was given up. */
    private @Nullable String whyUnprepared;

    private @Nullable Misfit refused;

    private NodeLog(ChangeLog log, NodeSchema schema, long process) {
        this.log = log;
        this.schema = schema;
        this.process = process;
    }

    /**
     * Opens the copy, or begins it, and applies what the schema lacks of it.
     *
     * @param name of the file, in a directory that is there
     * @param process a random number
     * @throws io.turbidite.core.CorruptionException if the copy is damaged
     * @throws InvalidRequestException if it is of another cluster, or the store is not what the
     *     copy says: it has other changes, or what the cluster did not make there
     */
    public static NodeLog open(
            Disk disk, String name, long clusterId, NodeSchema schema, long process) {
        ChangeLog log = disk.exists(name)
                ? ChangeLog.open(disk, name, clusterId, Keeper.NODE)
                : ChangeLog.create(disk, name, clusterId);
        try {
            NodeLog node = new NodeLog(log, schema, process);
            if (schema.applied() < log.number()) {
                schema.checkFits(log.after(schema.applied(), Integer.MAX_VALUE));
            }
            node.applyAll();
            return node;
        } catch (RuntimeException | Error e) {
            log.close();
            throw e;
        }
    }

    /** Registers, or says that it is there; call it now and then, and first of all. */
    public void again(Mail mail) {
        if (registration == 0) {
            mail.send(
                    Mail.CONTROLLER,
                    new Hello(log.clusterId(), log.epoch(), log.number(), log.chain(), process));
        } else {
            mail.send(Mail.CONTROLLER, holds());
        }
    }

    /** Takes a message of the controller. */
    public void receive(Message message, Mail mail) {
        switch (message) {
            case Welcome welcome -> {
                if (welcome.process() == process) {
                    welcome(welcome.stamp(), mail);
                }
            }
            case Entries told -> {
                if (fits(told.stamp(), mail)) {
                    entries(told, mail);
                }
            }
            case Prepare prepare -> {
                if (fits(prepare.stamp(), mail)) {
                    prepare(prepare, mail);
                }
            }
            case Abandon abandon -> {
                if (fits(abandon.stamp(), mail)) {
                    abandon(abandon.attempt());
                }
            }
            case Show show -> {
                if (fits(show.stamp(), mail)) {
                    mail.send(
                            Mail.CONTROLLER,
                            new Shown(stamp(), log.after(show.after(), ControllerLog.ENTRIES_MAX)));
                }
            }
            case Unfit unfit -> unfit(unfit, mail);
            case Hello _, Holds _, Prepared _, Unprepared _, Shown _ ->
                throw new IllegalArgumentException("a controller does not send " + message);
        }
    }

    private void welcome(Stamp welcome, Mail mail) {
        Epoch epoch = log.epoch();
        boolean isLater = welcome.epoch().number() > epoch.number();
        if (welcome.clusterId() != log.clusterId()
                || !(isLater || welcome.epoch().equals(epoch))) {
            var _ = fits(welcome, mail);
            return;
        }
        if (isLater) {
            log.raise(welcome.epoch());
            registration = 0;
            attempt = 0;
            abandoned = 0;
            discard();
        }
        if (welcome.registration() > registration) {
            registration = welcome.registration();
            target = welcome.number() == Stamp.NUMBER_UNKNOWN ? Long.MAX_VALUE : welcome.number();
            refused = null;
            if (schema.applied() > Math.max(target, log.number())) {
                throw new InvalidRequestException(
                        "the store has change %d of the cluster, and its controller ends with %d: %s"
                                .formatted(schema.applied(), target, OTHER_STORE));
            }
        }
        if (welcome.registration() == registration) {
            mail.send(Mail.CONTROLLER, holds());
        }
    }

    private boolean fits(Stamp sent, Mail mail) {
        Misfit misfit = sent.misfit(stamp());
        if (misfit == null) {
            return true;
        }
        boolean isNews = sent.clusterId() == log.clusterId()
                && (sent.epoch().number() > log.epoch().number()
                        || (sent.epoch().equals(log.epoch())
                                && sent.registration() > registration));
        if (isNews) {
            // its welcome is late or lost
            registration = 0;
            again(mail);
        } else {
            mail.send(Mail.CONTROLLER, new Unfit(sent, misfit));
        }
        return false;
    }

    private void entries(Entries told, Mail mail) {
        target = Math.max(target, told.stamp().number());
        for (Entry entry : told.entries()) {
            if (entry.number() == log.number() + 1) {
                log.append(entry);
                isPrepared = false;
                applyAll();
            }
        }
        mail.send(Mail.CONTROLLER, holds());
    }

    private void applyAll() {
        long applied = schema.applied();
        if (applied > log.number()) {
            return; // the copy was lost, and comes again
        }
        if (schema.chain() != log.chainAt(applied)) {
            throw new InvalidRequestException(
                    "the store has another change %d of the cluster than the copy of its log: %s"
                            .formatted(applied, OTHER_STORE));
        }
        ClusterMap map = applied == shownNumber ? shown : log.mapAt(applied);
        for (Entry entry : log.after(applied, Integer.MAX_VALUE)) {
            schema.apply(entry, map);
            map = map.with(entry.change());
        }
        shown = map;
        shownNumber = log.number();
    }

    private void prepare(Prepare asked, Mail mail) {
        if (asked.attempt() < attempt || asked.attempt() <= abandoned) {
            return;
        }
        Entry entry = asked.entry();
        if (entry.number() != log.number() + 1) {
            if (entry.number() > log.number()) {
                mail.send(Mail.CONTROLLER, new Unfit(asked.stamp(), Misfit.OTHER_NUMBER));
            }
            return;
        }
        if (asked.attempt() > attempt) {
            discard();
            attempt = asked.attempt();
            whyUnprepared = whyNot(entry);
            isPrepared = whyUnprepared == null;
        }
        if (isPrepared) {
            mail.send(Mail.CONTROLLER, new Prepared(stamp(), attempt));
        } else if (whyUnprepared != null) {
            mail.send(Mail.CONTROLLER, new Unprepared(stamp(), attempt, whyUnprepared));
        }
    }

    private @Nullable String whyNot(Entry entry) {
        if (!entry.follows(log.number(), log.chain())) {
            return "it does not follow on change %d here".formatted(log.number());
        }
        try {
            var _ = log.map().with(entry.change());
        } catch (InvalidRequestException e) {
            return e.getMessage();
        }
        return schema.prepare(entry, log.map());
    }

    private void abandon(long given) {
        abandoned = Math.max(abandoned, given);
        // an earlier attempt may be recorded: its change may come behind this message
        if (given == attempt) {
            discard();
        }
    }

    private void discard() {
        if (isPrepared) {
            isPrepared = false;
            schema.discard();
        }
    }

    private void unfit(Unfit unfit, Mail mail) {
        boolean isOfNow = unfit.stamp().epoch().equals(log.epoch())
                && unfit.stamp().registration() == registration;
        if (!isOfNow) {
            return;
        }
        refused = unfit.misfit();
        if (registration > 0) {
            // whoever it is that answers: a hello tells it what was heard here
            registration = 0;
            again(mail);
        }
    }

    private Holds holds() {
        return new Holds(stamp(), log.chain(), isPrepared ? attempt : 0);
    }

    /** What is sent, and what is asked for. */
    public Stamp stamp() {
        return new Stamp(log.clusterId(), log.epoch(), registration, log.number());
    }

    /** Whether jobs and pieces may be taken. */
    public boolean isServing() {
        return registration > 0 && log.number() >= target;
    }

    /**
     * Why a job or piece with this stamp is refused; null if it may be taken. Who is refused asks
     * for the stamp of now and tries once more.
     */
    public @Nullable Misfit misfit(Stamp sent) {
        return sent.misfitOfWork(stamp(), isServing());
    }

    /** Why the controller does not register this node; null if it does, or was not heard. */
    public @Nullable Misfit refused() {
        return refused;
    }

    /** Of the last change in the copy. */
    public long number() {
        return log.number();
    }

    /** The copy. */
    ChangeLog log() {
        return log;
    }

    /** What the copy makes. */
    public ClusterMap map() {
        return log.map();
    }

    /** Closes the file of the copy. */
    @Override
    public void close() {
        log.close();
    }
}
