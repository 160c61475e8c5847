package io.turbidite.it.jdbc;

import io.turbidite.feeds.command.StoreServer;
import io.turbidite.lsm.Store;

import java.io.IOException;
import java.nio.file.Path;

/** A process that holds a store and serves it until its input ends. */
final class HolderProcess {
    private HolderProcess() {}

    public static void main(String[] arguments) throws IOException {
        try (Store store = Store.open(Path.of(arguments[0]));
                StoreServer server = StoreServer.start(store)) {
            System.out.println(server.problem().orElse("ready"));
            while (System.in.read() >= 0) {
                System.out.println(server.sessionCount());
            }
        }
    }
}
