package io.turbidite.bench.ycsb;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The engines that are compared. */
enum Peer {
    TURBIDITE(TurbiditeRecords.NAME),
    ROCKSDB(RocksRecords.NAME);

    private final String title;

    Peer(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    static List<String> titles() {
        return Arrays.stream(values()).map(Peer::title).toList();
    }

    /** Opens its store below {@code directory}, or makes it. */
    Records open(Path directory, Budget budget) {
        Path place = place(directory);
        return switch (this) {
            case TURBIDITE -> new TurbiditeRecords(place, budget);
            case ROCKSDB -> new RocksRecords(place, budget);
        };
    }

    /** Where its store lies. */
    Path place(Path directory) {
        return directory.resolve(title.toLowerCase(Locale.ROOT));
    }
}
