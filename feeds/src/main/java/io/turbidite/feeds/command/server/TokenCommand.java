package io.turbidite.feeds.command.server;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.Callable;

/** Makes a token for clients of a server. */
@Command(
        name = "token",
        customSynopsis = "./turbidite token FILE NAME [--rights read,write,manage] [options]",
        description = {
            "Make a token for ./turbidite serve --tokens FILE, and print it: nothing else shows it again.",
            "The file keeps a salted hash of it. Take a token away by deleting its line.",
        },
        sortOptions = false)
public final class TokenCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "FILE", description = "File of tokens, made if missing.")
    private String file = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "Whose it is, for messages.")
    private String name = "";

    @Option(
            names = "--rights",
            split = ",",
            paramLabel = "RIGHT",
            description = "read, write, manage, with commas between; default: read.")
    private List<String> rights = List.of("read");

    @Option(
            names = "--stores",
            split = ",",
            paramLabel = "STORE",
            description = "For these stores alone; default: all.")
    private List<String> stores = List.of("*");

    @Option(
            names = "--feeds",
            split = ",",
            paramLabel = "FEED",
            description = "For these feeds alone; default: all.")
    private List<String> feeds = List.of("*");

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public TokenCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (!name.matches("[A-Za-z0-9_.@-]{1,64}")) {
            throw new InvalidRequestException(
                    "NAME '%s' must be up to 64 letters, digits, '_', '-', '.' and '@'"
                            .formatted(name));
        }
        Path path = console.directory().resolve(PathArgument.path("FILE", file));
        boolean exists = Files.exists(path);
        if (exists && Gate.read(path).stream().anyMatch(one -> one.name().equals(name))) {
            throw new InvalidRequestException(
                    "%s has a token of %s: delete its line first".formatted(file, name));
        }
        Token.Made made = Token.make(name, Token.rights(rights), stores, feeds);
        try {
            if (!exists) {
                Files.createFile(
                        path,
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")));
            }
            Files.writeString(
                    path,
                    made.kept().toLine() + "\n",
                    StandardCharsets.UTF_8,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s can't be written: %s".formatted(file, e.getMessage()), e);
        }
        if (common.json) {
            Json.line().put("name", name).put("token", made.text()).printTo(console.out());
        } else {
            console.out().println(made.text());
        }
        return ExitCode.OK;
    }
}
