package io.turbidite.feeds.command;

import io.turbidite.core.StorageIoException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Words;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Writes the manual: a page for each command, out of what {@code --help} says. */
@Command(
        name = "man",
        hidden = true,
        customSynopsis = "./turbidite man DIRECTORY",
        description = {
            "Write a manual page for each command into a directory, out of what --help says:",
            "man -l DIRECTORY/turbidite-query.1",
        })
final class ManCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "DIRECTORY", description = "Where the pages go.")
    private String directory = "";

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    ManCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Path to = console.directory().resolve(PathArgument.path("DIRECTORY", directory));
        try {
            Files.createDirectories(to);
            int pages = write(Objects.requireNonNull(spec).root(), to);
            console.out()
                    .println("%s in %s; man -l %s"
                            .formatted(
                                    Words.count(pages, "page"),
                                    to,
                                    to.resolve(spec.root().name() + ".1")));
        } catch (IOException failed) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "write",
                    to.toString(),
                    String.valueOf(failed.getMessage()),
                    failed);
        }
        return ExitCode.OK;
    }

    /** Returns how many pages it wrote. */
    private static int write(CommandSpec command, Path to) throws IOException {
        String name = command.qualifiedName("-");
        Files.writeString(to.resolve(name + ".1"), page(command, name));
        int pages = 1;
        for (CommandLine below : command.subcommands().values()) {
            if (!below.getCommandSpec().usageMessage().hidden()) {
                pages += write(below.getCommandSpec(), to);
            }
        }
        return pages;
    }

    private static String page(CommandSpec command, String name) {
        String[] description = command.usageMessage().description();
        StringBuilder page = new StringBuilder();
        page.append(".TH \"").append(text(name)).append("\" 1\n");
        section(page, "NAME");
        String first = description.length == 0 ? "" : description[0];
        page.append(text(name)).append(" \\- ").append(text(first)).append('\n');
        section(page, "SYNOPSIS");
        String[] synopsis = command.usageMessage().customSynopsis();
        for (String line : synopsis.length == 0 ? new String[] {"./" + name} : synopsis) {
            page.append(text(line)).append("\n.br\n");
        }
        section(page, "DESCRIPTION");
        lines(page, description);
        section(page, "OPTIONS");
        for (PositionalParamSpec parameter : command.positionalParameters()) {
            item(page, parameter.paramLabel(), parameter.description());
        }
        for (OptionSpec option : command.options()) {
            String label = option.arity().max() == 0 ? "" : " " + option.paramLabel();
            if (!option.hidden()) {
                item(page, String.join(", ", option.names()) + label, option.description());
            }
        }
        if (!command.subcommands().isEmpty()) {
            section(page, "COMMANDS");
            command.subcommands().forEach((called, below) -> {
                CommandSpec inner = below.getCommandSpec();
                if (!inner.usageMessage().hidden()) {
                    item(page, called, inner.usageMessage().description());
                }
            });
        }
        return page.toString();
    }

    private static void section(StringBuilder page, String name) {
        page.append(".SH ").append(name).append('\n');
    }

    private static void item(StringBuilder page, String name, String[] description) {
        page.append(".TP\n.B ").append(text(name)).append('\n');
        lines(page, description);
    }

    private static void lines(StringBuilder page, String[] lines) {
        for (String line : lines) {
            page.append(text(line)).append('\n');
        }
    }

    /** Nothing of it is a request to the formatter; "%n" and "%%" are as help has them. */
    private static String text(String line) {
        String plain = line.replace("%n", " ").replace("%%", "%");
        String escaped = plain.replace("\\", "\\e").replace("-", "\\-");
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }
}
