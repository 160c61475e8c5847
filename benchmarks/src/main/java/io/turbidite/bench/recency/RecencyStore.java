package io.turbidite.bench.recency;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Engine;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The tweets under one policy, with a filter on the send time or without. */
final class RecencyStore implements AutoCloseable {
    private static final long SETTLED_NANOS = 300_000_000;

    private final Path directory;
    private final StoreOptions options;
    private Store store;
    private Dataset tweets;

    RecencyStore(Path directory, String policy, boolean hasFilter, StoreOptions options) {
        this.directory = Scratch.empty(directory);
        this.options = options.withDurability(Durability.BUFFERED);
        this.store = Store.open(directory, this.options);
        DatasetSpec spec = DatasetSpec.named("Tweets")
                .field("tweetid", "int64")
                .field("userid", "int32")
                .field("sender_location", "point")
                .field("integer_send_time", "int64")
                .field("message_text", "string")
                .primaryKey("tweetid")
                .mergePolicy(MergePolicySpec.parse(policy))
                .index(IndexSpec.btree("by_user", "userid"))
                .index(IndexSpec.rtree("by_place", "sender_location"));
        if (hasFilter) {
            spec.filter("integer_send_time");
        }
        this.tweets = store.createDataset(spec);
    }

    /** Inserts all tweets, and returns when their merges have been done for a while. */
    void load(RecentTweets all) {
        RecordWriter writer = tweets.newRecordWriter();
        for (int i = 0; i < all.count(); i++) {
            writer.begin();
            writer.setLong(0, i);
            writer.setLong(1, all.user(i));
            writer.setPoint(2, all.x(i), all.y(i));
            writer.setLong(3, i);
            writer.setString(4, all.text(i));
            tweets.upsertRecord(writer.finish());
        }
        settle();
    }

    /** What is in memory stays there: the newest tweets, as in the paper. */
    private void settle() {
        Clock clock = Clock.system();
        long[] busy = {clock.monotonicNanos()};
        store.environment().tasks().await(() -> {
            long now = clock.monotonicNanos();
            if (backlog() > 0) {
                busy[0] = now;
            }
            return now - busy[0] > SETTLED_NANOS;
        });
    }

    private long backlog() {
        return store.meters().instruments().stream()
                .filter(one -> one.name().equals("merge.backlog.bytes"))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    /** Opens it with another cache. */
    void reopen(long cacheBytes, boolean directIo) {
        store.close();
        store = Store.open(directory, options.withCacheBytes(cacheBytes).withDirectIo(directIo));
        tweets = store.dataset("Tweets");
        settle();
    }

    /** Components on disk of the primary, of the B+-tree and of the R-tree. */
    String components() {
        StringBuilder counts = new StringBuilder();
        store.describe().datasets().stream()
                .filter(dataset -> dataset.name().equals("Tweets"))
                .flatMap(dataset -> dataset.partitions().stream())
                .flatMap(partition -> partition.indexes().stream())
                .forEach(index -> counts.append(counts.isEmpty() ? "" : ", ")
                        .append(index.components().size()));
        return counts.toString();
    }

    /** The tweets of a user sent after a time (ALS15 Figure 8). */
    long ofUser(int user, long after) {
        try (QueryResult result = Query.on(tweets)
                .where(Predicates.eq("userid", user))
                .where(Predicates.above("integer_send_time", after))
                .usingIndex("by_user")
                .count()
                .run()) {
            return result.count();
        }
    }

    /** Those in a window sent after a time, counted by cells (ALS15 Figure 2, without the word). */
    long inWindow(Point corner, double side, long after) {
        try (QueryResult cells = Query.on(tweets)
                .where(Predicates.within(
                        "sender_location",
                        corner.x(),
                        corner.y(),
                        corner.x() + side,
                        corner.y() + side))
                .where(Predicates.above("integer_send_time", after))
                .usingIndex("by_place")
                .groupByCell("sender_location", side / 8, side / 8)
                .run()) {
            long sum = 0;
            for (Map<String, @Nullable Object> cell : cells) {
                sum += ((Number) Objects.requireNonNull(cell.get("count"))).longValue();
            }
            return sum;
        }
    }

    /**
     * Those of a time and later ones, by a scan that passes over components; their ids are not
     * used, though they are times too.
     */
    Engine.Answer since(long from) {
        KeySpec times = KeySpec.of(tweets.type(), List.of("integer_send_time"), "benchmark");
        FilterPredicate filter =
                new FilterPredicate(List.of(KeyRange.closed(times.encode(from), null)));
        RecordView tweet = new RecordView(tweets.type());
        Slice text = new Slice();
        long rows = 0;
        long sum = 0;
        try (ReadView moment = tweets.openView();
                RecordStream all = moment.scanUnordered(0, KeyRange.all(), filter)) {
            while (all.next()) {
                tweet.wrap(all.record());
                long sent = tweet.getLong(3);
                if (sent >= from) {
                    rows++;
                    sum += Engine.Answer.of(
                            sent,
                            (int) tweet.getLong(1),
                            tweet.getBytes(4, text).length());
                }
            }
        }
        return new Engine.Answer(rows, sum);
    }

    @Override
    public void close() {
        store.close();
        Scratch.delete(directory);
    }
}
