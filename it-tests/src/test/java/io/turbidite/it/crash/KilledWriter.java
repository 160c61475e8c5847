package io.turbidite.it.crash;

import io.turbidite.core.log.Durability;
import io.turbidite.core.type.Point;
import io.turbidite.feeds.command.StandardErrorLogging;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.pm.PmKind;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;

/**
 * The child of the kill test: opens the store, writes with several threads for as long as it lives,
 * and says on standard output what was acknowledged, one line a commit: {@code key version}.
 */
final class KilledWriter {
    static final int KEY_COUNT = 500;

    private KilledWriter() {}

    /** Directory, version to go on from, durability, threads. */
    public static void main(String[] args) throws InterruptedException {
        StandardErrorLogging.install();
        long version = Long.parseLong(args[1]);
        int threadCount = Integer.parseInt(args[3]);
        try (Store store = Store.open(
                Path.of(args[0]),
                StoreOptions.defaults()
                        .withWriteMemoryBytes(1 << 20)
                        .withCacheBytes(4 << 20)
                        .withDurability(Durability.valueOf(args[2]))
                        .withIndexKinds(new PmKind()))) {
            Dataset found = store.findDataset("T");
            Dataset dataset = found != null
                    ? found
                    : store.createDataset(DatasetSpec.named("T")
                            .field("id", "int64")
                            .field("version", "int64")
                            .field("group", "int32")
                            .field("place", "point")
                            .field("tags", "[string]")
                            .primaryKey("id")
                            .index(IndexSpec.btree("by_group", "group"))
                            .index(IndexSpec.rtree("by_place", "place"))
                            .index(IndexSpec.btree("by_tag", "tags[]"))
                            .index(IndexSpec.inverted("by_word", "tags[]"))
                            .index(IndexSpec.pm("by_region", "group")
                                    .withParameter("bytes", "16MiB")));
            say("open");
            for (int i = 0; i < threadCount; i++) {
                int thread = i;
                Thread.ofPlatform().start(() -> write(dataset, thread, threadCount, version));
            }
            new CountDownLatch(1).await(); // until it is killed
        }
    }

    /** Each thread has keys of its own, and counts versions by itself. */
    private static void write(Dataset dataset, int thread, int threadCount, long from) {
        SplittableRandom random = new SplittableRandom(from * threadCount + thread);
        for (long version = from + 1; ; version++) {
            long id = random.nextInt(KEY_COUNT / threadCount) * (long) threadCount + thread;
            int group = random.nextInt(10);
            dataset.upsert(Map.of(
                    "id",
                    id,
                    "version",
                    version,
                    "group",
                    group,
                    "place",
                    new Point(group, id),
                    "tags",
                    List.of("group " + group, "v" + version % 7),
                    "filler",
                    "f".repeat(random.nextInt(3_000))));
            say(id + " " + version);
        }
    }

    /** A line at once: the next thing that happens may be the kill. */
    private static void say(String line) {
        PrintStream out = System.out;
        synchronized (out) {
            out.println(line);
            out.flush();
        }
    }
}
