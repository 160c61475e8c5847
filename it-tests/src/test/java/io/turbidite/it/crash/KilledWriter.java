package io.turbidite.it.crash;

import io.turbidite.core.log.Durability;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The child of the kill test: opens the store, writes for as long as it lives, and says on standard
 * output what was acknowledged, one line a commit: {@code key version}.
 */
final class KilledWriter {
    static final int KEY_COUNT = 500;

    private KilledWriter() {}

    public static void main(String[] args) {
        long version = Long.parseLong(args[1]);
        SplittableRandom random = new SplittableRandom(version);
        PrintStream out = System.out;
        try (Store store = Store.open(
                Path.of(args[0]),
                StoreOptions.defaults()
                        .withWriteMemoryBytes(1 << 20)
                        .withCacheBytes(4 << 20)
                        .withDurability(Durability.SYNC))) {
            Dataset dataset = store.findDataset("T");
            if (dataset == null) {
                dataset = store.createDataset(DatasetSpec.named("T")
                        .field("id", "int64")
                        .field("version", "int64")
                        .field("group", "int32")
                        .primaryKey("id")
                        .index(IndexSpec.btree("by_group", "group")));
            }
            out.println("open");
            out.flush();
            while (true) {
                version++;
                long id = random.nextInt(KEY_COUNT);
                dataset.upsert(Map.of(
                        "id",
                        id,
                        "version",
                        version,
                        "group",
                        random.nextInt(10),
                        "filler",
                        "f".repeat(random.nextInt(3_000))));
                out.println(id + " " + version);
                out.flush();
            }
        }
    }
}
