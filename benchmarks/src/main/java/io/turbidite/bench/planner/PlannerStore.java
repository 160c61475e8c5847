package io.turbidite.bench.planner;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.schema.Maintenance;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * Flights with their planes, carriers and airports, and tweets with their users and places: what
 * random questions are asked of. One partition and one component each, all in the cache.
 */
final class PlannerStore implements AutoCloseable {
    private static final int BATCH = 500;
    private static final int USERS = 10_000;
    private static final int PLACES = 50;

    private final Store store;
    private final SplittableRandom random = new SplittableRandom(4);
    private final Dataset flights;
    private final Dataset planes;
    private final Dataset carriers;
    private final Dataset airports;
    private final Dataset tweets;
    private final Dataset users;
    private final Dataset places;

    PlannerStore(Path place, Path feed, int records) {
        this.store = Store.open(place, StoreOptions.defaults().withCacheBytes(1L << 30));
        this.flights = flights(feed, place.resolveSibling("planner-feed"), records);
        this.planes = named("Planes", "plane", "seats", 40, "maker", 12, names("tailnum"));
        this.carriers = named("Carriers", "carrier", "country", 4, "size", 5, names("carrier"));
        this.airports = named("Airports", "airport", "zone", 6, "size", 5, names("dest"));
        this.tweets = tweets(records);
        this.users = numbered("Users", "user", "age", 80, "place", PLACES, USERS);
        this.places = numbered("Places", "place", "land", 10, "size", 5, PLACES);
    }

    private Dataset flights(Path feed, Path place, int records) {
        FeedDefinition definition = FeedDefinition.load(feed);
        Scratch.empty(place);
        Dataset copy;
        try (Store fed = Store.open(place, definition.storeOptions())) {
            Feed.open(definition, fed).run(FeedProgress.none());
            Dataset source = fed.dataset(definition.dataset().name());
            DatasetSpec spec = DatasetSpec.named("Flights")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.btree("by_tail", "tailnum"))
                    .index(IndexSpec.btree("by_flight", "carrier", "flight"))
                    .index(IndexSpec.btree("by_dest", "dest"))
                    .index(IndexSpec.btree("by_departure", "scheduled_departure"));
            source.type().declared().forEach(field -> spec.field(field.name(), field.typeLabel()));
            copy = store.createDataset(spec);
            copyAll(source, copy, records);
        }
        Scratch.delete(place);
        return copy;
    }

    private void copyAll(Dataset source, Dataset target, int most) {
        WriteBatch batch = store.newBatch();
        int left = most;
        try (ReadView view = source.openView()) {
            for (int i = 0; i < view.partitionCount(); i++) {
                try (RecordStream all =
                        view.scanUnordered(i, KeyRange.all(), FilterPredicate.none())) {
                    for (; left > 0 && all.next(); left--) {
                        batch.upsert(target, all.record());
                        if (batch.size() == BATCH) {
                            store.write(batch);
                            batch.clear();
                        }
                    }
                }
            }
        }
        store.write(batch);
        target.flush();
        target.mergeAll();
    }

    /** All values of a field of the flights. */
    private Set<String> names(String field) {
        Set<String> names = new TreeSet<>();
        try (ReadView view = flights.openView();
                RecordStream all = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            RecordView record = new RecordView(flights.type());
            int index = flights.type().indexOf(field);
            while (all.next()) {
                Object value = record.wrap(all.record()).get(index);
                if (value != null) {
                    names.add(value.toString());
                }
            }
        }
        return names;
    }

    private Dataset named(
            String name,
            String key,
            String first,
            int firstBelow,
            String second,
            int secondBelow,
            Iterable<String> keys) {
        Dataset dataset = store.createDataset(DatasetSpec.named(name)
                .field(key, "string")
                .field(first, "int32")
                .field(second, "int32")
                .primaryKey(key));
        try (BulkLoader load = dataset.bulkLoad(USERS)) {
            for (String one : keys) {
                load.add(dataset.newRecordWriter()
                        .write(Map.of(
                                key,
                                one,
                                first,
                                random.nextInt(firstBelow),
                                second,
                                random.nextInt(secondBelow))));
            }
            load.finish();
        }
        return dataset;
    }

    private Dataset numbered(
            String name,
            String key,
            String first,
            int firstBelow,
            String second,
            int secondBelow,
            int count) {
        Dataset dataset = store.createDataset(DatasetSpec.named(name)
                .field(key, "int32")
                .field(first, "int32")
                .field(second, "int32")
                .primaryKey(key));
        try (BulkLoader load = dataset.bulkLoad(count)) {
            for (int i = 0; i < count; i++) {
                load.add(dataset.newRecordWriter()
                        .write(Map.of(
                                key,
                                i,
                                first,
                                random.nextInt(firstBelow),
                                second,
                                random.nextInt(secondBelow))));
            }
            load.finish();
        }
        return dataset;
    }

    private Dataset tweets(int records) {
        Dataset dataset = store.createDataset(DatasetSpec.named("Tweets")
                .field("id", "int64")
                .field("author", "int32")
                .field("a1", "int32")
                .field("a2", "int32")
                .field("a3", "int32")
                .field("created", "datetime")
                .field("message", "string")
                .primaryKey("id")
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.btree("by_author", "author"))
                .index(IndexSpec.btree("by_created", "created"))
                .index(IndexSpec.btree("by_a1", "a1")));
        TweetSource source = new TweetSource(5, records, 0);
        Tweet tweet = new Tweet();
        Map<String, Object> record = new HashMap<>();
        try (BulkLoader load = dataset.bulkLoad(records)) {
            for (int i = 0; i < records; i++) {
                source.next(tweet);
                record.put("id", (long) i);
                // skewed, so that values differ in how frequent they are
                record.put("author", skewed(tweet.attributes[0], 2, USERS));
                record.put("a1", skewed(tweet.attributes[1], 1, 1_000));
                record.put("a2", skewed(tweet.attributes[2], 3, 10_000));
                record.put("a3", skewed(tweet.attributes[3], 4, 100_000));
                record.put("created", Instant.EPOCH.plus(tweet.created, ChronoUnit.MICROS));
                record.put("message", "m".repeat(200));
                load.add(dataset.newRecordWriter().write(record));
            }
            load.finish();
        }
        return dataset;
    }

    private static int skewed(int attribute, int power, int below) {
        double share = attribute / (double) TweetSource.ATTRIBUTE_LIMIT;
        return (int) (Math.pow(share, power) * below);
    }

    Dataset flights() {
        return flights;
    }

    Dataset planes() {
        return planes;
    }

    Dataset carriers() {
        return carriers;
    }

    Dataset airports() {
        return airports;
    }

    Dataset tweets() {
        return tweets;
    }

    Dataset users() {
        return users;
    }

    Dataset places() {
        return places;
    }

    @Override
    public void close() {
        store.close();
    }
}
