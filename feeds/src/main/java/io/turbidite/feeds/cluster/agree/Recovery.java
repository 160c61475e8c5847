package io.turbidite.feeds.cluster.agree;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.feeds.cluster.agree.Message.Hello;
import io.turbidite.feeds.cluster.agree.Message.Holds;
import io.turbidite.feeds.cluster.agree.Message.Show;
import io.turbidite.feeds.cluster.agree.Message.Shown;
import io.turbidite.feeds.cluster.agree.Message.Unfit;
import io.turbidite.feeds.cluster.agree.Message.Welcome;
import io.turbidite.feeds.cluster.change.ChangeLog;
import io.turbidite.feeds.cluster.change.ChangeLog.Keeper;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.change.Epoch;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Makes a controller's log of the highest copy of its nodes, or of what is left of its own if that
 * is higher. A state machine, <em>confined to one thread at a time</em>. Steps:
 *
 * <ol>
 *   <li>Each node that says hello is welcomed in an epoch above all that were heard of. From then
 *       on it takes nothing of an earlier controller, so what it holds stays what it says.
 *   <li>Changes are asked of the node with the highest number. Copies of one cluster are beginnings
 *       of one another; if they are not, the recovery stops.
 *   <li>When all nodes have answered that the highest copy names, and those that a person does, it
 *       is written, and the controller goes on from there.
 * </ol>
 *
 * <p>A change that was recorded, and that no node was told of before the log was lost, is lost with
 * it: {@link ControllerLog#behind} tells when that can't be any more.
 */
public final class Recovery {
    private final Disk disk;
    private final String name;
    private final long clusterId;
    private final Set<String> named;
    private final List<Entry> entries = new ArrayList<>();
    private final Map<String, Heard> heard = new TreeMap<>();
    private Epoch epoch;
    private ClusterMap map = ClusterMap.EMPTY;
    private long registrationCount;
    private @Nullable String stopped;

    /** A node. */
    private static final class Heard {
        final long registration;
        final long process;

        /** That it has promised to stay at; -1 before. */
        long number = -1;

        long chain;

        Heard(long registration, long process) {
            this.registration = registration;
            this.process = process;
        }
    }

    private Recovery(Disk disk, String name, long clusterId, long process, Set<String> named) {
        this.disk = disk;
        this.name = name;
        this.clusterId = clusterId;
        this.named = Set.copyOf(named);
        this.epoch = Epoch.NONE.next(process);
    }

    /**
     * Begins; a log that is there and can be read counts as one more copy.
     *
     * @param name of the log's file, in a directory that is there
     * @param process a random number
     * @param named nodes that must answer beside those that the highest copy names: of one that was
     *     added last, no other copy may know
     * @throws InvalidRequestException if the log is of another cluster
     */
    public static Recovery begin(
            Disk disk, String name, long clusterId, long process, Set<String> named) {
        Recovery recovery = new Recovery(disk, name, clusterId, process, named);
        if (disk.exists(name)) {
            recovery.takeOwn();
        }
        return recovery;
    }

    private void takeOwn() {
        try (ChangeLog own = ChangeLog.open(disk, name, clusterId, Keeper.CONTROLLER)) {
            own.after(0, Integer.MAX_VALUE).forEach(this::add);
            epoch = own.epoch().next(epoch.process());
        } catch (CorruptionException e) {
            // that is why it is recovered: copies have what it had
            assert entries.isEmpty() : e;
        }
    }

    private void add(Entry entry) {
        map = map.with(entry.change());
        entries.add(entry);
    }

    /**
     * Takes a message of a node.
     *
     * @param node who has sent it, as its certificate says
     */
    public void receive(String node, Message message, Mail mail) {
        if (stopped != null) {
            return;
        }
        if (message instanceof Hello hello) {
            hello(node, hello, mail);
        } else if (message instanceof Holds holds) {
            Heard from = fitting(node, holds.stamp(), mail);
            if (from != null) {
                from.number = holds.stamp().number();
                from.chain = holds.chain();
                step(mail);
            }
        } else if (message instanceof Shown shown) {
            if (fitting(node, shown.stamp(), mail) != null) {
                take(node, shown.entries());
                step(mail);
            }
        }
    }

    private void hello(String node, Hello hello, Mail mail) {
        if (hello.clusterId() != clusterId) {
            Stamp stamp = new Stamp(hello.clusterId(), hello.epoch(), 0, hello.number());
            mail.send(node, new Unfit(stamp, Misfit.OTHER_CLUSTER));
            return;
        }
        heard.put(node, new Heard(++registrationCount, hello.process()));
        if (hello.epoch().number() >= epoch.number() && !hello.epoch().equals(epoch)) {
            epoch = new Epoch(hello.epoch().number() + 1, epoch.process());
            heard.replaceAll((other, each) -> new Heard(++registrationCount, each.process));
        }
        again(mail);
    }

    /** Asks again what was not answered; call it now and then. */
    public void again(Mail mail) {
        heard.forEach((node, each) -> {
            if (each.number < 0) {
                mail.send(node, new Welcome(stamp(each), each.process));
            }
        });
        step(mail);
    }

    private @Nullable Heard fitting(String node, Stamp sent, Mail mail) {
        Heard from = heard.get(node);
        Stamp own = new Stamp(clusterId, epoch, from == null ? 0 : from.registration, 0);
        Misfit misfit = sent.misfit(own);
        if (misfit == null && from != null) {
            return from;
        }
        mail.send(node, new Unfit(sent, misfit == null ? Misfit.OTHER_REGISTRATION : misfit));
        return null;
    }

    private void take(String node, List<Entry> shown) {
        for (Entry entry : shown) {
            if (entry.number() == entries.size() + 1) {
                if (!entry.follows(entries.size(), chainAt(entries.size()))) {
                    twoHistories(node, entry.number());
                    return;
                }
                add(entry);
            }
        }
    }

    private void twoHistories(String node, long number) {
        stopped =
                "change %d of node '%s' is not the one of others: two controllers have changed this cluster"
                        .formatted(number, node);
    }

    /** Asks for what is missing, and compares what is there. */
    private void step(Mail mail) {
        heard.forEach((node, each) -> {
            if (each.number > entries.size()) {
                mail.send(node, new Show(stamp(each), entries.size()));
            } else if (each.number >= 0 && each.chain != chainAt(each.number)) {
                twoHistories(node, each.number);
            }
        });
    }

    private long chainAt(long number) {
        return number == 0 ? Entry.CHAIN_START : entries.get((int) number - 1).chain();
    }

    private Stamp stamp(Heard of) {
        return new Stamp(clusterId, epoch, of.registration, Stamp.NUMBER_UNKNOWN);
    }

    /** Why it has stopped; null if it has not. */
    public @Nullable String stopped() {
        return stopped;
    }

    /** Nodes that must still answer, as far as is known. */
    public List<String> missing() {
        SortedSet<String> all = new TreeSet<>(map.nodes());
        all.addAll(named);
        return all.stream()
                .filter(node -> {
                    Heard each = heard.get(node);
                    return each == null || each.number < 0;
                })
                .toList();
    }

    /** Whether all nodes are there, and the highest copy too. */
    public boolean isComplete() {
        return stopped == null
                && !map.nodes().isEmpty()
                && missing().isEmpty()
                && heard.values().stream().allMatch(each -> each.number <= entries.size());
    }

    /**
     * Writes the log, and goes on as a controller.
     *
     * @throws StoreFailedException if it is not {@linkplain #isComplete complete}
     */
    public ControllerLog finish(Mail mail) {
        if (!isComplete()) {
            throw new StoreFailedException(
                    stopped == null
                            ? "the cluster can't be recovered without all nodes; missing: "
                                    + missing()
                            : stopped,
                    null);
        }
        Map<String, Long> processes = new TreeMap<>();
        heard.forEach((node, each) -> {
            if (map.nodes().contains(node)) {
                processes.put(node, each.process);
            }
        });
        return ControllerLog.recovered(
                ChangeLog.replace(disk, name, clusterId, entries, epoch),
                registrationCount,
                processes,
                mail);
    }
}
