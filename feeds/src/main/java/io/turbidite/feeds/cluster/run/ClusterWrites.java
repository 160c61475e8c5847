package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.ClusterWriteException;
import io.turbidite.feeds.cluster.ClusterWriteException.OnNode;
import io.turbidite.feeds.cluster.agree.Stamp;
import io.turbidite.feeds.cluster.change.ClusterMap.PlacedDataset;
import io.turbidite.feeds.cluster.run.WriteCodec.Outcome;
import io.turbidite.feeds.cluster.run.WriteCodec.Write;
import io.turbidite.feeds.cluster.run.WriteCodec.Written;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes to the owners of records: what is for one node is one message and one batch there, and is
 * answered. Messages may be lost, and then it is not known what became of it. What a node refuses,
 * since it was made for another state of the cluster, is sent once more. <em>Thread-safe.</em>
 */
public final class ClusterWrites {
    private static final System.Logger LOG = System.getLogger(ClusterWrites.class.getName());

    /** How long an answer is waited for. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    /** How long nodes that lack the last change are waited for, before what was refused is sent. */
    private static final Duration LEVEL_WAIT = Duration.ofSeconds(2);

    private final ControllerRun changes;
    private final Post post;
    private final Tasks tasks;
    private final Clock clock;
    private final Duration patience;
    private final AtomicLong ids = new AtomicLong();
    private final Map<Long, Waiting> waiting = new ConcurrentHashMap<>();

    ClusterWrites(ControllerRun changes, Post post, Tasks tasks, Clock clock, Duration patience) {
        this.patience = patience;
        this.changes = changes;
        this.post = post;
        this.tasks = tasks;
        this.clock = clock;
    }

    /** What was sent to a node. */
    private static final class Waiting {
        final String node;
        volatile @Nullable Written answer;

        Waiting(String node) {
            this.node = node;
        }
    }

    /**
     * Records of one dataset for their owners.
     *
     * @param placed as it was when they were encoded and their owners chosen
     * @param replaces whether records with their keys may be there
     * @param byNode encoded records, at most {@link #recordBytesMax()} for a node
     */
    public record Batch(
            String dataset,
            PlacedDataset placed,
            boolean replaces,
            Map<String, List<byte[]>> byNode) {
        private List<byte[]> of(String node) {
            return Objects.requireNonNull(byNode.get(node));
        }

        /** Whether the dataset of now takes these records, and on these nodes. */
        boolean fits(@Nullable PlacedDataset now) {
            return now != null
                    && now.owners().equals(placed.owners())
                    && now.definition().type().equals(placed.definition().type())
                    && now.definition().primaryKey().equals(placed.definition().primaryKey());
        }
    }

    /** How many bytes of records one batch may have for one node, with four for each. */
    public static int recordBytesMax() {
        return WriteCodec.RECORD_BYTES_MAX;
    }

    /**
     * Writes, and waits for the answers.
     *
     * @throws InvalidRequestException if it is for one node alone, which refuses what is in it
     * @throws ClusterWriteException if not all nodes have done it: it says what became of it
     */
    public void write(Batch batch) {
        Map<String, Written> answers = send(batch, batch.byNode().keySet());
        Set<String> stale = new TreeSet<>();
        answers.forEach((node, answer) -> {
            if (answer.outcome() == Outcome.STALE) {
                stale.add(node);
            }
        });
        if (!stale.isEmpty()) {
            changes.awaitAll(LEVEL_WAIT);
            answers.putAll(send(batch, stale));
        }
        if (answers.values().stream().allMatch(one -> one.outcome() == Outcome.APPLIED)) {
            return;
        }
        Written only = answers.size() == 1 ? answers.values().iterator().next() : null;
        if (only != null && only.id() > 0 && only.outcome() == Outcome.NOT_APPLIED) {
            throw new InvalidRequestException(only.why());
        }
        List<OnNode> told = new ArrayList<>();
        answers.forEach((node, answer) ->
                told.add(new OnNode(node, batch.of(node).size(), outcome(answer), answer.why())));
        throw new ClusterWriteException(batch.dataset(), told);
    }

    private static ClusterWriteException.Outcome outcome(Written answer) {
        return switch (answer.outcome()) {
            case APPLIED -> ClusterWriteException.Outcome.APPLIED;
            case NOT_APPLIED, STALE -> ClusterWriteException.Outcome.NOT_APPLIED;
            case NOT_KNOWN -> ClusterWriteException.Outcome.NOT_KNOWN;
        };
    }

    private Map<String, Written> send(Batch batch, Set<String> nodes) {
        ControllerRun.Stamped now = changes.stamped();
        Map<String, Stamp> stamps = now.stamps();
        Map<String, Written> answers = new TreeMap<>();
        if (!batch.fits(now.map().datasets().get(batch.dataset()))) {
            nodes.forEach(node -> answers.put(
                    node, new Written(0, Outcome.NOT_APPLIED, "the dataset is another one now")));
            return answers;
        }
        Map<Long, Waiting> sent = new TreeMap<>();
        for (String node : nodes) {
            Stamp stamp = stamps.get(node);
            if (stamp == null) {
                answers.put(node, new Written(0, Outcome.NOT_APPLIED, "it is away"));
                continue;
            }
            long id = ids.incrementAndGet();
            Waiting own = new Waiting(node);
            sent.put(id, own);
            waiting.put(id, own);
            post.send(
                    node,
                    WriteCodec.encode(new Write(
                            stamp, id, batch.dataset(), batch.replaces(), batch.of(node))));
        }
        long begun = clock.monotonicNanos();
        tasks.await(() -> sent.values().stream().allMatch(own -> own.answer != null)
                || clock.monotonicNanos() - begun >= patience.toNanos());
        sent.forEach((id, own) -> {
            waiting.remove(id);
            Written answer = own.answer;
            answers.put(
                    own.node,
                    answer != null
                            ? answer
                            : new Written(
                                    id,
                                    Outcome.NOT_KNOWN,
                                    "no answer within %d s".formatted(patience.toSeconds())));
        });
        return answers;
    }

    /** A message of a node has come. */
    void arrived(String node, byte[] message) {
        WriteCodec.Sent sent;
        try {
            sent = WriteCodec.decode(message);
        } catch (InvalidRequestException e) {
            LOG.log(System.Logger.Level.WARNING, "node ''{0}'': {1}", node, e.getMessage());
            return;
        }
        if (sent instanceof Written written) {
            Waiting own = waiting.get(written.id());
            if (own != null && own.node.equals(node)) {
                own.answer = written;
                tasks.signal();
            }
        }
    }

    /** A node has left: what it was sent is not answered any more. */
    void left(String node) {
        waiting.forEach((id, own) -> {
            if (own.node.equals(node) && own.answer == null) {
                own.answer = new Written(id, Outcome.NOT_KNOWN, "it has left");
            }
        });
        tasks.signal();
    }
}
