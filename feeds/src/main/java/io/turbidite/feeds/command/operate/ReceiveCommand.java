package io.turbidite.feeds.command.operate;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.check.VerifyReport;
import io.turbidite.lsm.ship.Reception;
import io.turbidite.lsm.ship.ShipmentReport;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Makes a store of a shipment. */
@Command(
        name = "receive",
        customSynopsis = "./turbidite receive FILE|- DIR [--json] [--debug]",
        description = {
            "Make a store of what ship wrote, in a new or empty directory.",
            "Every checksum and every index is checked. If it breaks off, give the same shipment",
            "again: it goes on.",
        },
        sortOptions = false)
public final class ReceiveCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "FILE", description = "A shipment; - is standard input.")
    private String source = "";

    @Parameters(index = "1", paramLabel = "DIR", description = "Directory of the new store.")
    private String directory = "";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public ReceiveCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Path to = PathArgument.path("DIR", directory);
        ShipmentReport received;
        try {
            received = receive(to);
        } catch (CorruptionException | StorageIoException e) {
            if (common.debug) {
                e.printStackTrace(console.err());
            }
            console.err().println("turbidite: " + Failures.oneLine(String.valueOf(e.getMessage())));
            console.err()
                    .println("  %s is no store yet: give the same shipment again, or delete it"
                            .formatted(directory));
            return ExitCode.FAILED;
        }
        VerifyReport verified;
        try (Store store = StoreArgument.of(directory).openForReading()) {
            verified = store.verify();
        }
        print(received, verified);
        return verified.isOk() ? ExitCode.OK : ExitCode.FAILED;
    }

    private ShipmentReport receive(Path to) {
        boolean isStandard = source.equals(ShipCommand.STANDARD);
        Path file = console.directory().resolve(PathArgument.path("FILE", source));
        if (!isStandard && Files.isDirectory(file)) {
            throw new InvalidRequestException(source + " is a directory, and no shipment");
        }
        if (!isStandard && !Files.exists(file)) {
            throw new InvalidRequestException(source + " does not exist");
        }
        String what = isStandard ? "standard input" : source;
        try (InputStream in = isStandard ? console.in() : Files.newInputStream(file)) {
            InputStream buffered = new BufferedInputStream(in);
            if (!Reception.isShipment(buffered)) {
                throw new InvalidRequestException(
                        what + " is no shipment; ./turbidite ship writes one");
            }
            return Store.receive(buffered, to);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s can't be read: %s".formatted(what, e.getMessage()), e);
        }
    }

    private void print(ShipmentReport received, VerifyReport verified) {
        if (common.json) {
            Json.line()
                    .put("ok", verified.isOk())
                    .put("store", directory)
                    .put("timestamp", received.timestamp())
                    .put("received", received.sent())
                    .put("kept", received.kept())
                    .put("bytes", received.bytes())
                    .put("errors", verified.errors())
                    .printTo(console.out());
        } else if (verified.isOk()) {
            console.out()
                    .println(
                            "received %s as of timestamp %d: %s%s, %s; every checksum and every index is right"
                                    .formatted(
                                            directory,
                                            received.timestamp(),
                                            Words.count(received.sent(), "component"),
                                            received.kept() == 0
                                                    ? ""
                                                    : " and %s of the try before"
                                                            .formatted(
                                                                    Words.number(received.kept())),
                                            Words.count(verified.records(), "record")));
        } else {
            verified.errors().forEach(console.out()::println);
            console.err()
                    .println("turbidite: the indexes of %s don't agree: a damaged store was shipped"
                            .formatted(directory));
        }
    }
}
