package io.turbidite.feeds.command.server;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.DefinitionChange;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.feeds.serve.NettyLibrary;
import io.turbidite.feeds.source.parcel.TcpKind;
import io.turbidite.feeds.web.ServedStores;
import io.turbidite.feeds.web.WebServer;
import io.turbidite.feeds.web.http.HttpServer;
import io.turbidite.feeds.web.tcp.TcpDoor;
import io.turbidite.feeds.web.tcp.TcpServer;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** Serves stores over HTTP. */
@Command(
        name = "serve",
        customSynopsis = "./turbidite serve STORE... [FEED.yaml...] [--listen HOST:PORT] [options]",
        description = {
            "Serve stores over HTTP, with a console for browsers, until Ctrl-C.",
            "Other commands read the stores meanwhile. docs/server.md describes what can be asked.",
        },
        sortOptions = false)
public final class ServeCommand implements Callable<Integer> {
    private final Console console;
    private final ServedFeeds serving;

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "STORE",
            description =
                    "Directory of a store; NAME=DIR gives it another name than the directory's. FEED.yaml: a feed to start in the only store, which keeps it.")
    private List<String> given = List.of();

    @Mixin
    private final ServeOptions options = new ServeOptions();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    /**
     * @param serving of each store to other commands
     */
    public ServeCommand(Console console, ServedFeeds serving) {
        this.console = console;
        this.serving = serving;
    }

    @Override
    public Integer call() throws IOException {
        NettyLibrary.requireServer();
        WebServer.Options web = options.toWeb(console.clock());
        List<TcpDoor> doors = options.toDoors(web);
        List<String> directories =
                given.stream().filter(one -> !isDefinition(one)).toList();
        List<GivenFeed> definitions = definitions(directories.size());
        CountDownLatch asked = new CountDownLatch(1);
        try (Interrupts.Watch watch = console.interrupts().watch(asked::countDown)) {
            watch.endWith(ExitCode.OK);
            try (OpenStores stores = OpenStores.open(directories);
                    OpenFeeds feeds = OpenFeeds.open(stores.all(), console.err());
                    var _ = OpenSockets.open(stores.all(), feeds.all(), serving, console);
                    WebServer server = start(new ServedStores(stores.all(), feeds.all()), web)) {
                start(definitions, feeds.all());
                try (TcpServer tcp = start(server, doors, web, feeds.all())) {
                    server.hasStarted();
                    tell(server, tcp, web, stores.all());
                    tellOfUnheard(tcp, feeds.all());
                    asked.await();
                }
            }
            console.err().println("ended");
            return ExitCode.OK;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.INTERRUPTED;
        }
    }

    private static boolean isDefinition(String argument) {
        return argument.endsWith(".yaml") || argument.endsWith(".yml");
    }

    /** Reads the feeds of files, before any store is opened: one that is wrong changes nothing. */
    private List<GivenFeed> definitions(int storeCount) {
        List<Path> files = given.stream()
                .filter(ServeCommand::isDefinition)
                .map(one -> PathArgument.path("FEED.yaml", one))
                .toList();
        if (!files.isEmpty() && storeCount == 0) {
            throw new InvalidRequestException(
                    "%s: no store is named that it goes into: ./turbidite serve STORE %s"
                            .formatted(files.getFirst(), files.getFirst()));
        }
        if (!files.isEmpty() && storeCount != 1) {
            throw new InvalidRequestException(
                    "%s: feeds of files go into one store; start others by ./turbidite feed start STORE FEED.yaml"
                            .formatted(files.getFirst()));
        }
        Map<String, GivenFeed> byName = new LinkedHashMap<>();
        for (Path file : files) {
            GivenFeed feed = GivenFeed.read(console.directory(), file);
            GivenFeed other = byName.putIfAbsent(feed.name(), feed);
            if (other != null) {
                throw new InvalidRequestException(
                        "%s and %s both define feed %s: give one of them another name"
                                .formatted(other.file(), file, feed.name()));
            }
        }
        return List.copyOf(byName.values());
    }

    /**
     * Refuses feeds that their store can't take, before it keeps any of them.
     *
     * @throws DefinitionException naming the file
     */
    private static void check(List<GivenFeed> definitions, Map<String, FeedManager> feeds) {
        for (GivenFeed one : definitions) {
            try {
                feeds.values().iterator().next().checkStart(one.text(), one.directory());
            } catch (DefinitionException e) {
                throw e.inFile(one.file().toString());
            }
        }
    }

    /** Starts feeds of files in the only store; the store keeps them from then on. */
    private void start(List<GivenFeed> definitions, Map<String, FeedManager> feeds) {
        check(definitions, feeds);
        for (GivenFeed one : definitions) {
            FeedManager manager = feeds.values().iterator().next();
            List<FeedStatus> before = manager.list();
            try {
                FeedStatus feed = manager.startOrChange(one.text(), one.directory());
                before.stream()
                        .filter(old -> old.name().equals(feed.name()))
                        .forEach(old -> tellIfChanged(old, feed, one.file()));
                tellIfAtRest(feed, one.file());
            } catch (DefinitionException e) {
                throw e.inFile(one.file().toString());
            }
        }
    }

    /** Who names a file behind the store may not know that the store keeps another definition. */
    private void tellIfChanged(FeedStatus before, FeedStatus now, Path file) {
        List<String> changed =
                new ArrayList<>(DefinitionChange.keys(before.definition(), now.definition()));
        if (!before.directory().equals(now.directory())) {
            changed.add("the directory of relative paths, which was " + before.directory());
        }
        if (!changed.isEmpty()) {
            console.err()
                    .println(
                            "feed %s: the definition that the store keeps is now that of %s, which differs in %s"
                                    .formatted(now.name(), file, String.join(", ", changed)));
        }
    }

    /** A feed that was there stays as it was, whatever is named behind the store. */
    private void tellIfAtRest(FeedStatus feed, Path file) {
        if (feed.state() == FeedState.PAUSED || feed.state() == FeedState.ENDED) {
            console.err()
                    .println("feed %s of %s stays %s: ./turbidite feed resume STORE %s starts it"
                            .formatted(feed.name(), file, feed.word(), feed.name()));
        }
    }

    private WebServer start(ServedStores stores, WebServer.Options web) {
        try {
            return WebServer.startUnready(stores, web, console.clock());
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s; give another --listen HOST:PORT".formatted(e.getMessage()), e);
        }
    }

    private TcpServer start(
            WebServer server,
            List<TcpDoor> doors,
            WebServer.Options web,
            Map<String, FeedManager> feeds) {
        try {
            return TcpServer.start(
                    new TcpServer.Parts(
                            options.toTcp(), feeds, web.doorkeeper(), web.tls(), server.meters()),
                    doors);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s; give another --tcp FEED=HOST:PORT".formatted(e.getMessage()), e);
        }
    }

    /** Nothing else says that a feed by TCP can't take anything. */
    private void tellOfUnheard(TcpServer tcp, Map<String, FeedManager> feeds) {
        for (FeedManager manager : feeds.values()) {
            for (String feed : manager.ofKind(TcpKind.NAME)) {
                if (!tcp.addresses().containsKey(feed)) {
                    console.err()
                            .println(
                                    "feed %s takes no lines: no --tcp %s=HOST:PORT says where it listens"
                                            .formatted(feed, feed));
                }
            }
        }
    }

    private void tell(
            WebServer server, TcpServer tcp, WebServer.Options web, Map<String, Store> stores) {
        List<String> addresses = new ArrayList<>();
        server.addresses().forEach(at -> addresses.add(HttpServer.textOf(at)));
        List<String> lines = new ArrayList<>();
        tcp.addresses().forEach((feed, at) -> lines.add(feed + "=" + HttpServer.textOf(at)));
        if (common.json) {
            Json.Line line = Json.line()
                    .put("listening", addresses)
                    .put("stores", List.copyOf(stores.keySet()));
            if (!lines.isEmpty()) {
                line.put("tcp", lines);
            }
            line.printTo(console.out());
        } else {
            console.out()
                    .println("serving %s at %s"
                            .formatted(
                                    String.join(", ", stores.keySet()),
                                    String.join(
                                            ", ",
                                            addresses.stream()
                                                    .map(at -> (web.tls() == null
                                                                    ? "http://"
                                                                    : "https://")
                                                            + at + "/")
                                                    .toList())));
        }
        if (!common.json && !lines.isEmpty()) {
            console.out().println("taking lines at " + String.join(", ", lines));
        }
        console.out().flush();
    }
}
