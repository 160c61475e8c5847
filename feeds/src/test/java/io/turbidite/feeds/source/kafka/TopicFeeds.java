package io.turbidite.feeds.source.kafka;

import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.lsm.Store;

import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A store with feeds of a broker's topics, into its dataset D. */
final class TopicFeeds implements AutoCloseable {
    private static final long LONG_NANOS = 60_000_000_000L;

    private final Broker broker;
    private final Path directory;
    private final Store store;
    private final FeedManager manager;

    private TopicFeeds(Broker broker, Path directory) {
        this.broker = broker;
        this.directory = directory;
        this.store = Store.open(directory);
        this.manager = FeedManager.open(store);
    }

    static TopicFeeds open(Broker broker, Path directory) {
        return new TopicFeeds(broker, directory);
    }

    /**
     * A definition whose group is called as the topic, with a g in front.
     *
     * @param more options of the source, each with a comma in front
     */
    String definition(String feed, String topic, String more) {
        return definitionOf(
                feed, "topics: %s, group: g-%s, key: id%s".formatted(topic, topic, more));
    }

    String definitionOf(String feed, String source) {
        return definitionOf(feed, broker.address(), source);
    }

    static String definitionOf(String feed, String bootstrap, String source) {
        return """
                feed: %s
                dataset:
                  name: D
                  type: { id: string, n: int64 }
                  primaryKey: id
                source: { kind: kafka, bootstrap: "%s", %s }
                parser: { kind: json }
                """.formatted(feed, bootstrap, source);
    }

    Store store() {
        return store;
    }

    FeedManager manager() {
        return manager;
    }

    void start(String yaml) {
        manager.start(yaml, directory);
    }

    @Nullable
    Map<String, @Nullable Object> get(String key) {
        return store.findDataset("D") == null ? null : store.dataset("D").get(key);
    }

    void awaitRecord(String key, long n) throws InterruptedException {
        await(() -> "%s is not %d".formatted(key, n), () -> {
            var record = get(key);
            return record != null && Objects.equals(record.get("n"), n);
        });
    }

    void awaitState(String feed, FeedState state) throws InterruptedException {
        await(
                () -> "%s is not %s".formatted(feed, state),
                () -> manager.status(feed).state() == state);
    }

    void await(Supplier<String> what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + LONG_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(what.get() + "; " + manager.list());
            }
            TimeUnit.MILLISECONDS.sleep(20); // some conditions ask the broker
        }
    }

    /** How far the feeds of a topic's group are in a partition. */
    @Nullable
    Map<String, @Nullable Object> row(String topic, int partition) {
        return row("g-" + topic, topic, partition);
    }

    @Nullable
    Map<String, @Nullable Object> row(String group, String topic, int partition) {
        try {
            return store.findDataset("_feeds") == null
                    ? null
                    : store.dataset("_feeds")
                            .get(
                                    "D/" + group,
                                    "%s/%s/%d".formatted(topic, broker.topicId(topic), partition));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** -1 where nothing was begun. */
    long position(String topic, int partition) {
        var row = row(topic, partition);
        return row == null
                ? -1
                : ByteBuffer.wrap((byte[]) Objects.requireNonNull(row.get("position")))
                        .getLong();
    }

    /** How many records were taken of a partition. */
    long records(String topic, int partition) {
        var row = row(topic, partition);
        return row == null ? 0 : (Long) Objects.requireNonNull(row.get("records"));
    }

    /** The members of a group; none where there is no such group yet. */
    Collection<MemberDescription> members(String group) {
        try {
            return Objects.requireNonNull(broker.admin()
                            .describeConsumerGroups(Set.of(group))
                            .all()
                            .get(20, TimeUnit.SECONDS)
                            .get(group))
                    .members();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
                return Set.of();
            }
            throw new AssertionError(e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        try (store) {
            manager.close();
        }
    }
}
