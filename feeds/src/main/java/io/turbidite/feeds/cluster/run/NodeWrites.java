package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.agree.Misfit;
import io.turbidite.feeds.cluster.change.Epoch;
import io.turbidite.feeds.cluster.run.WriteCodec.Outcome;
import io.turbidite.feeds.cluster.run.WriteCodec.Write;
import io.turbidite.feeds.cluster.run.WriteCodec.Written;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Writes of the controller to a node's store: each is one batch, done by a worker of its own, and
 * answered. One that was made for another state of the cluster is refused. <em>Thread-safe.</em>
 */
final class NodeWrites implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(NodeWrites.class.getName());

    /** Writes whose copies are known; more are not under way. */
    private static final int REMEMBERED = 4_096;

    private final String node;
    private final Store store;
    private final NodeRun changes;
    private final Consumer<byte[]> answers;
    private final Turns turns;

    /** Of the last writes, oldest first: one that comes twice is not done again. Its worker's. */
    private final Map<Key, Written> done = new LinkedHashMap<>();

    /**
     * Starts.
     *
     * @param answers sends to the controller
     */
    NodeWrites(
            String node, Store store, NodeRun changes, Consumer<byte[]> answers, Turning turning) {
        this.node = node;
        this.store = store;
        this.changes = changes;
        this.answers = answers;
        this.turns = new Turns(
                "cluster-writes-" + node,
                turning.tasks(),
                turning.clock(),
                Duration.ofSeconds(1),
                () -> {
                    // nothing is asked for by time
                });
    }

    /** What names a write: a controller's process numbers its own. */
    private record Key(Epoch epoch, long id) {}

    /** What its worker is made of. */
    record Turning(Tasks tasks, Clock clock) {}

    /** A write has come; one that has no room is not answered. */
    void arrived(byte[] message) {
        WriteCodec.Sent sent;
        try {
            sent = WriteCodec.decode(message);
        } catch (InvalidRequestException e) {
            LOG.log(System.Logger.Level.WARNING, "node ''{0}'': {1}", node, e.getMessage());
            return;
        }
        if (sent instanceof Write write) {
            turns.offer(() -> answers.accept(WriteCodec.encode(once(write))));
        }
    }

    private Written once(Write write) {
        Key key = new Key(write.stamp().epoch(), write.id());
        Written before = done.get(key);
        if (before != null) {
            return before;
        }
        Written now = done(write);
        if (done.size() == REMEMBERED) {
            done.remove(done.keySet().iterator().next());
        }
        done.put(key, now);
        return now;
    }

    private Written done(Write write) {
        Misfit misfit = changes.misfit(write.stamp());
        if (misfit != null) {
            return new Written(write.id(), Outcome.STALE, misfit.words());
        }
        try {
            ChangeBatch batch =
                    StoreCatalog.of(store, false).newBatch(store.dataset(write.dataset()));
            // once more: the dataset may have been dropped and made anew before it was opened
            misfit = changes.misfit(write.stamp());
            if (misfit != null) {
                return new Written(write.id(), Outcome.STALE, misfit.words());
            }
            for (byte[] record : write.records()) {
                if (write.replaces()) {
                    batch.upsert(Slice.of(record));
                } else {
                    batch.insert(Slice.of(record));
                }
            }
            batch.write();
            return new Written(write.id(), Outcome.APPLIED, "");
        } catch (InvalidRequestException e) {
            return new Written(write.id(), Outcome.NOT_APPLIED, String.valueOf(e.getMessage()));
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.ERROR, "node '" + node + "': a write failed", e);
            return new Written(write.id(), Outcome.NOT_KNOWN, String.valueOf(e.getMessage()));
        }
    }

    /** Ends behind the write that is being done. */
    @Override
    public void close() {
        turns.close();
    }
}
