package io.turbidite.feeds.command.operate;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.OwnerOnly;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.ship.Shipment;
import io.turbidite.lsm.ship.ShipmentReport;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/** Sends a store as it is now as one stream. */
@Command(
        name = "ship",
        customSynopsis = "./turbidite ship STORE FILE|- [--json] [--debug]",
        description = {
            "Write a store, as it is at one moment, into one new file or to standard output.",
            "Each piece has its checksum. receive makes a store of it, on another machine too.",
            "docs/backup.md says more.",
        },
        sortOptions = false)
public final class ShipCommand implements Callable<Integer> {
    /** Standard output or input. */
    static final String STANDARD = "-";

    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "FILE", description = "New file; - is standard output.")
    private String target = "";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public ShipCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.use(given, store -> {
            if (target.equals(STANDARD)) {
                print(send(store, new Checked(console.out())), console.err());
            } else {
                print(sendToFile(store), console.out());
            }
            return ExitCode.OK;
        });
    }

    private ShipmentReport send(Store store, OutputStream out) {
        AtomicLong sent = new AtomicLong();
        try (Shipment shipment = store.openShipment();
                var _ = stores.progress(console, "ship", sent::get, shipment::bytes)) {
            return shipment.writeTo(new Counted(out, sent), 0);
        }
    }

    /** Counts what goes through. */
    private static final class Counted extends FilterOutputStream {
        private final AtomicLong count;

        Counted(OutputStream out, AtomicLong count) {
            super(out);
            this.count = count;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
            count.addAndGet(length);
        }
    }

    /** Leaves no file that is not whole. */
    private ShipmentReport sendToFile(Store store) {
        Path file = console.directory().resolve(PathArgument.path("FILE", target));
        try (FileChannel channel = FileChannel.open(
                        file,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        OwnerOnly.file());
                Undo undo = Undo.of(() -> delete(file))) {
            ShipmentReport report = send(store, Channels.newOutputStream(channel));
            channel.force(true);
            return undo.keep(report);
        } catch (FileAlreadyExistsException e) {
            throw new InvalidRequestException(
                    "%s is there already; give a new file".formatted(target), e);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s can't be written: %s".formatted(target, e.getMessage()), e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException left) {
            // the failure that is on its way says more
        }
    }

    private void print(ShipmentReport report, PrintStream to) {
        if (common.json) {
            Json.line()
                    .put("ok", true)
                    .put("store", given.directory())
                    .put("shipment", target)
                    .put("timestamp", report.timestamp())
                    .put("components", report.sent())
                    .put("bytes", report.bytes())
                    .put("leftOut", report.leftOut())
                    .printTo(to);
        } else {
            to.println("shipped %s as of timestamp %d: %s, %s bytes"
                    .formatted(
                            given.directory(),
                            report.timestamp(),
                            Words.count(report.sent(), "component"),
                            Words.number(report.bytes())));
            report.leftOut()
                    .forEach(file -> console.err().println(Words.leftOut(file, given.directory())));
        }
    }

    /** A print stream that fails when what it prints to has failed, so that sending ends. */
    private static final class Checked extends FilterOutputStream {
        private final PrintStream printed;

        Checked(PrintStream printed) {
            super(printed);
            this.printed = printed;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            printed.write(bytes, offset, length);
            if (printed.checkError()) {
                throw new IOException("nobody takes it");
            }
        }
    }
}
