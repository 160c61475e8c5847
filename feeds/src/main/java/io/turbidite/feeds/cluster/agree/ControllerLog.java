package io.turbidite.feeds.cluster.agree;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
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
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.ChangeLog;
import io.turbidite.feeds.cluster.change.ChangeLog.Keeper;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.change.Epoch;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The controller's log of changes, which decides. A state machine: messages in, messages out.
 *
 * <p><em>Confined to one thread at a time.</em> One change at a time:
 *
 * <ol>
 *   <li><em>Prepare</em>: all nodes of the map check it, and build what it needs unseen.
 *   <li><em>Record</em>: when all have, in their registration of now, it is appended and synced.
 *       From there on it has happened.
 *   <li><em>Commit</em>: nodes are told. One that was away gets it when it registers, before it
 *       serves.
 * </ol>
 *
 * <p>Where anything hints at a log that is not the last one of this cluster, it <em>stops</em>: it
 * records nothing more, and {@link #stopped} says why.
 */
public final class ControllerLog implements AutoCloseable {
    /** Changes in one message. */
    static final int ENTRIES_MAX = 64;

    /** A refusal is answered with what was missing, once. */
    private static final int REFUSALS_MAX = 1;

    private final ChangeLog log;

    /** By name; those that have registered in this epoch. */
    private final Map<String, Member> members = new TreeMap<>();

    private long registrationCount;
    private long attemptCount;
    private @Nullable Attempt underWay;
    private Outcome last = new Outcome.Refused("nothing was asked for");
    private @Nullable String stopped;

    /** What is known of a node. */
    private static final class Member {
        final long registration;
        final long process;

        /** That it said to have. */
        long number = -1;

        /** Whether it has prepared what is under way. */
        boolean hasPrepared;

        int refusalCount;

        Member(long registration, long process) {
            this.registration = registration;
            this.process = process;
        }
    }

    private record Attempt(long number, Entry entry) {}

    /** What became of a change. */
    public sealed interface Outcome {
        /** Nodes prepare it. */
        record UnderWay() implements Outcome {}

        /**
         * It has happened.
         *
         * @param number of the change
         */
        record Recorded(long number) implements Outcome {}

        /** It will not happen; nodes undo what they prepared. */
        record Refused(String why) implements Outcome {}
    }

    private ControllerLog(ChangeLog log, long registrationCount) {
        this.log = log;
        this.registrationCount = registrationCount;
    }

    /**
     * Makes the log of a new cluster, and starts.
     *
     * @param clusterId a random number
     * @param process a random number
     */
    public static ControllerLog create(Disk disk, String name, long clusterId, long process) {
        return started(ChangeLog.create(disk, name, clusterId), process);
    }

    /**
     * Opens the log, and starts: raises the epoch.
     *
     * @param process a random number
     * @throws io.turbidite.core.CorruptionException if the log is damaged
     */
    public static ControllerLog open(Disk disk, String name, long clusterId, long process) {
        return started(ChangeLog.open(disk, name, clusterId, Keeper.CONTROLLER), process);
    }

    private static ControllerLog started(ChangeLog log, long process) {
        try {
            log.raise(log.epoch().next(process));
        } catch (RuntimeException | Error e) {
            log.close();
            throw e;
        }
        return new ControllerLog(log, 0);
    }

    /**
     * Goes on from a recovery, in whose epoch nodes are registered: they are welcomed again.
     *
     * @param registrationCount that were given in this epoch
     * @param processes of nodes, by their names
     */
    static ControllerLog recovered(
            ChangeLog log, long registrationCount, Map<String, Long> processes, Mail mail) {
        ControllerLog controller = new ControllerLog(log, registrationCount);
        processes.forEach((node, process) -> controller.register(node, process, mail));
        return controller;
    }

    /**
     * Begins a change.
     *
     * @throws InvalidRequestException if it does not fit the map, another one is under way, or a
     *     node is away
     * @throws StoreFailedException if the controller has stopped
     */
    public void propose(Change change, Mail mail) {
        if (stopped != null) {
            throw new StoreFailedException(
                    "can't %s: the controller has stopped: %s"
                            .formatted(change.describe(), stopped),
                    null);
        }
        if (underWay != null) {
            throw new InvalidRequestException("can't %s: %s is under way"
                    .formatted(change.describe(), underWay.entry().change().describe()));
        }
        Entry entry = log.next(change);
        List<String> away = log.map().nodes().stream()
                .filter(node -> !members.containsKey(node))
                .toList();
        if (!away.isEmpty()) {
            throw new InvalidRequestException("can't %s: a change needs all nodes, and %s away"
                    .formatted(
                            change.describe(),
                            String.join(", ", away) + (away.size() == 1 ? " is" : " are")));
        }
        underWay = new Attempt(++attemptCount, entry);
        last = new Outcome.UnderWay();
        members.forEach((node, member) -> {
            member.hasPrepared = false;
            member.refusalCount = 0;
            send(node, member, mail);
        });
        recordIfAllHave(mail);
    }

    /** What became of the last change that was begun. */
    public Outcome outcome() {
        return last;
    }

    /**
     * Gives up the change that is under way, if there is one: time is over, or a node has died.
     *
     * @param why for whoever asked for it
     */
    public void giveUp(String why, Mail mail) {
        if (underWay != null) {
            Attempt given = underWay;
            underWay = null;
            last = new Outcome.Refused(why);
            members.forEach(
                    (node, member) -> mail.send(node, new Abandon(stamp(member), given.number())));
        }
    }

    /** A node has died, or its connection: it is away until it registers. */
    public void lost(String node) {
        members.remove(node);
    }

    /** Sends again what may have been lost; call it now and then. */
    public void again(Mail mail) {
        if (stopped == null) {
            members.forEach((node, member) -> send(node, member, mail));
        }
    }

    /** What a node needs next: changes, or a question. */
    private void send(String node, Member member, Mail mail) {
        if (member.number >= 0 && member.number < log.number()) {
            mail.send(node, new Entries(stamp(member), log.after(member.number, ENTRIES_MAX)));
        } else if (member.number >= 0 && underWay != null && !member.hasPrepared) {
            mail.send(node, new Prepare(stamp(member), underWay.number(), underWay.entry()));
        } else if (member.number < 0) {
            mail.send(node, new Welcome(stamp(member), member.process));
        }
    }

    /**
     * Takes a message of a node.
     *
     * @param node who has sent it, as its certificate says
     */
    public void receive(String node, Message message, Mail mail) {
        if (stopped != null) {
            if (message instanceof Hello hello) {
                refuse(node, hello, Misfit.STOPPED, mail);
            }
            return;
        }
        switch (message) {
            case Hello hello -> hello(node, hello, mail);
            case Holds holds -> {
                Member member = fitting(node, holds.stamp(), mail);
                if (member != null && isOfThisLog(node, holds.stamp().number(), holds.chain())) {
                    holds(node, member, holds, mail);
                }
            }
            case Prepared prepared -> {
                Member member = fitting(node, prepared.stamp(), mail);
                if (member != null && isUnderWay(prepared.attempt())) {
                    member.hasPrepared = true;
                    recordIfAllHave(mail);
                }
            }
            case Unprepared unprepared -> {
                Member member = fitting(node, unprepared.stamp(), mail);
                if (member != null && isUnderWay(unprepared.attempt())) {
                    giveUp("node '%s': %s".formatted(node, unprepared.why()), mail);
                }
            }
            case Unfit unfit -> unfit(node, unfit, mail);
            case Shown _ -> {
                // a late answer of a recovery that is over
            }
            case Welcome _, Entries _, Prepare _, Abandon _, Show _ ->
                throw new IllegalArgumentException("a node does not send " + message);
        }
    }

    private void hello(String node, Hello hello, Mail mail) {
        if (hello.clusterId() != log.clusterId()) {
            refuse(node, hello, Misfit.OTHER_CLUSTER, mail);
            return;
        }
        Epoch heard = hello.epoch();
        if (heard.number() > log.epoch().number()) {
            stop("node '%s' has heard of %s, and this is %s: another controller runs, or this"
                            .formatted(node, heard, log.epoch())
                    + " directory is an old copy");
        } else if (heard.number() == log.epoch().number() && !heard.equals(log.epoch())) {
            stop("node '%s' has registered with another controller of this epoch, %s: two run from"
                            .formatted(node, heard)
                    + " copies of one directory");
        } else if (isOfThisLog(node, hello.number(), hello.chain())) {
            if (log.map().nodes().contains(node)) {
                register(node, hello.process(), mail);
            } else {
                refuse(node, hello, Misfit.UNKNOWN_NODE, mail);
            }
        }
    }

    private void register(String node, long process, Mail mail) {
        Member member = new Member(++registrationCount, process);
        members.put(node, member);
        mail.send(node, new Welcome(stamp(member), member.process));
    }

    private static void refuse(String node, Hello hello, Misfit misfit, Mail mail) {
        Stamp stamp = new Stamp(hello.clusterId(), hello.epoch(), 0, hello.number());
        mail.send(node, new Unfit(stamp, misfit));
    }

    private @Nullable Member fitting(String node, Stamp sent, Mail mail) {
        Member member = members.get(node);
        Stamp own = new Stamp(
                log.clusterId(),
                log.epoch(),
                member == null ? 0 : member.registration,
                log.number());
        Misfit misfit = sent.misfit(own);
        if (misfit == null && member != null) {
            return member;
        }
        mail.send(node, new Unfit(sent, misfit == null ? Misfit.OTHER_REGISTRATION : misfit));
        return null;
    }

    private boolean isOfThisLog(String node, long number, long chain) {
        if (number > log.number()) {
            stop("node '%s' has change %d, and this log ends with %d"
                    .formatted(node, number, log.number()));
        } else if (log.chainAt(number) != chain) {
            stop("node '%s' has another change %d than this log".formatted(node, number));
        }
        return stopped == null;
    }

    private void holds(String node, Member member, Holds holds, Mail mail) {
        member.number = Math.max(member.number, holds.stamp().number());
        // behind: it may be the change that it has not been told of yet
        boolean isBehind = holds.stamp().number() < log.number();
        if (holds.attempt() > 0 && !isBehind && !isUnderWay(holds.attempt())) {
            mail.send(node, new Abandon(stamp(member), holds.attempt()));
        }
        send(node, member, mail);
    }

    private boolean isUnderWay(long attempt) {
        return underWay != null && underWay.number() == attempt;
    }

    private void recordIfAllHave(Mail mail) {
        Attempt attempt = underWay;
        if (attempt == null) {
            return;
        }
        for (String node : log.map().nodes()) {
            Member member = members.get(node);
            if (member == null || !member.hasPrepared) {
                return;
            }
        }
        underWay = null;
        try {
            log.append(attempt.entry());
        } catch (RuntimeException | Error e) {
            stop("it is not known whether change %d is recorded: start it again"
                    .formatted(attempt.entry().number()));
            throw e;
        }
        last = new Outcome.Recorded(attempt.entry().number());
        members.forEach((node, member) -> send(node, member, mail));
    }

    private void unfit(String node, Unfit unfit, Mail mail) {
        if (!unfit.stamp().epoch().equals(log.epoch())
                || unfit.stamp().clusterId() != log.clusterId()) {
            return; // to a controller before this one
        }
        Member member = members.get(node);
        switch (unfit.misfit()) {
            case OLD_EPOCH, OTHER_CONTROLLER ->
                stop("node '%s' refuses it: %s".formatted(node, unfit.misfit().words()));
            case OTHER_NUMBER -> {
                if (member != null
                        && unfit.stamp().registration() == member.registration
                        && underWay != null) {
                    refusedPrepare(node, member, mail);
                }
            }
            case OTHER_CLUSTER, UNKNOWN_NODE, OTHER_REGISTRATION, STOPPED -> {
                // it registers again, if it is to
            }
        }
    }

    private void refusedPrepare(String node, Member member, Mail mail) {
        member.refusalCount++;
        if (member.refusalCount > REFUSALS_MAX) {
            giveUp(
                    "node '%s' has refused twice: %s".formatted(node, Misfit.OTHER_NUMBER.words()),
                    mail);
        } else {
            send(node, member, mail);
        }
    }

    private void stop(String why) {
        stopped = why + "; start it with --recover when all nodes are there";
        underWay = null;
        last = new Outcome.Refused("the controller has stopped: " + stopped);
    }

    private Stamp stamp(Member member) {
        return new Stamp(log.clusterId(), log.epoch(), member.registration, log.number());
    }

    /** Why the controller has stopped; null if it has not. */
    public @Nullable String stopped() {
        return stopped;
    }

    /**
     * The stamp of a job or piece for a node, as of now.
     *
     * @throws InvalidRequestException if the node is away
     */
    public Stamp stampFor(String node) {
        Member member = members.get(node);
        if (member == null) {
            throw new InvalidRequestException("node '%s' is away".formatted(node));
        }
        return stamp(member);
    }

    /** The stamps of jobs and pieces as of now, by node; those that are away have none. */
    public Map<String, Stamp> stamps() {
        Map<String, Stamp> stamps = new TreeMap<>();
        members.forEach((node, member) -> stamps.put(node, stamp(member)));
        return stamps;
    }

    /** The nodes that have not said yet that they have all changes. */
    public List<String> behind() {
        return log.map().nodes().stream()
                .filter(node -> {
                    Member member = members.get(node);
                    return member == null || member.number < log.number();
                })
                .toList();
    }

    /** The nodes that have not prepared the change that is under way; empty if none is. */
    public List<String> unprepared() {
        return underWay == null
                ? List.of()
                : log.map().nodes().stream()
                        .filter(node -> {
                            Member member = members.get(node);
                            return member == null || !member.hasPrepared;
                        })
                        .toList();
    }

    /** Of the last change. */
    public long number() {
        return log.number();
    }

    /** The log itself. */
    ChangeLog log() {
        return log;
    }

    /** What all changes make. */
    public ClusterMap map() {
        return log.map();
    }

    /** Closes the log's file. */
    @Override
    public void close() {
        log.close();
    }
}
