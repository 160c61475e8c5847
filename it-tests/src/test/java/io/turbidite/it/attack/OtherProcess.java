package io.turbidite.it.attack;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.feeds.command.StandardErrorLogging;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The child of {@link TwoStoresTest}: does what each line of standard input says, and answers it by
 * one line: {@code ok} and a value, or {@code refused} and the exception.
 */
final class OtherProcess {
    static final String DATASET = "T";

    private final Map<String, Store> stores = new HashMap<>();

    private OtherProcess() {}

    static StoreOptions options() {
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withDurability(Durability.SYNC);
    }

    static Dataset dataset(Store store) {
        Dataset dataset = store.findDataset(DATASET);
        if (dataset != null) {
            return dataset;
        }
        return store.createDataset(DatasetSpec.named(DATASET)
                .field("id", "int64")
                .field("version", "int64")
                .primaryKey("id")
                .index(IndexSpec.btree("by_version", "version")));
    }

    /** 0 where there is no record. */
    static long version(Dataset dataset, long id) {
        Map<String, ? extends @Nullable Object> record = dataset.get(id);
        return record == null ? 0 : (Long) Objects.requireNonNull(record.get("version"));
    }

    /** Version 0 deletes the record. */
    static void write(Dataset dataset, long id, long version) {
        if (version == 0) {
            dataset.delete(id);
        } else {
            dataset.upsert(Map.of("id", id, "version", version, "filler", "f".repeat((int) id)));
        }
    }

    public static void main(String[] args) throws IOException {
        StandardErrorLogging.install();
        OtherProcess process = new OtherProcess();
        PrintStream out = System.out;
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(process.answer(line.split("\t", -1)));
            out.flush();
        }
    }

    private String answer(String[] command) {
        try {
            return "ok\t" + done(command);
        } catch (StorageException e) {
            return "refused\t%s\t%s"
                    .formatted(
                            e.getClass().getSimpleName(),
                            String.valueOf(e.getMessage()).replace('\n', ' '));
        }
    }

    private String done(String[] command) {
        if (command[0].equals("open")) {
            Store opened = Store.open(Path.of(command[2]), options());
            stores.put(command[1], opened);
            dataset(opened);
            return "";
        }
        Store store = Objects.requireNonNull(stores.get(command[1]));
        switch (command[0]) {
            case "write" ->
                write(dataset(store), Long.parseLong(command[2]), Long.parseLong(command[3]));
            case "get" -> {
                return Long.toString(version(dataset(store), Long.parseLong(command[2])));
            }
            case "flush" -> dataset(store).flush();
            case "close" -> {
                stores.remove(command[1]);
                store.close();
            }
            default -> throw new IllegalArgumentException(command[0]);
        }
        return "";
    }
}
