package io.turbidite.feeds.command;

import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.StandardError;
import io.turbidite.feeds.command.common.StandardOutput;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the commands that end soon, on a store of a few records, so that the JVM can keep what it
 * learnt of their classes. The launcher starts it, once for each build and JVM, with a new
 * directory and {@code sql} where that command is rehearsed too: its classes are three times as
 * many, and each start maps all that were kept.
 */
final class Rehearsal {
    private static final String FIRST =
            "{\"id\":1,\"name\":\"a\",\"at\":\"2026-01-01\",\"size\":1.5}";
    private static final String SECOND = "{\"id\":2,\"name\":\"b\",\"more\":[true]}";

    private Rehearsal() {}

    /** {@code arguments}: a directory, then perhaps {@code sql}. Ends the process. */
    public static void main(String[] arguments) {
        String store = Path.of(arguments[0]).resolve("store").toString();
        boolean withSql = arguments.length > 1 && arguments[1].equals("sql");
        // as a command begins, too
        StandardError.restore();
        StandardErrorLogging.install();
        Interrupts.ofProcess();
        if (GivenArguments.firstLost(arguments) != null) {
            System.exit(ExitCode.USAGE);
        }
        PrintStream out = new PrintStream(
                new StandardOutput(OutputStream.nullOutputStream()), false, StandardCharsets.UTF_8);
        for (String[] command : commands(store, withSql)) {
            int code = Main.run(command, out, System.err);
            if (code != 0) {
                System.err.println(
                        "rehearsal: " + String.join(" ", command) + " ended with " + code);
                System.exit(code);
            }
        }
        System.exit(0);
    }

    private static List<String[]> commands(String store, boolean withSql) {
        List<String> fields = List.of("id=int64", "name=string", "at=date?", "size=double?");
        List<String> create =
                new ArrayList<>(List.of("dataset", "create", store, "People", "--key", "id"));
        for (String field : fields) {
            create.add("--field");
            create.add(field);
        }
        List<String[]> commands = new ArrayList<>();
        commands.add(create.toArray(String[]::new));
        commands.add(new String[] {"index", "create", store, "People", "by_name", "--on", "name"});
        commands.add(new String[] {"put", store, "People", FIRST});
        commands.add(new String[] {"flush", store});
        commands.add(new String[] {"put", store, "People", SECOND});
        commands.add(new String[] {"get", store, "People", "1"});
        commands.add(new String[] {"inspect", store});
        commands.add(new String[] {"dataset", "list", store});
        commands.add(new String[] {"query", store, "People", "--eq", "name=a"});
        commands.add(new String[] {"query", store, "People", "--where", "size > 1", "--count"});
        commands.add(new String[] {"query", store, "People", "--group", "name"});
        commands.add(new String[] {"stats", store});
        commands.add(new String[] {"verify", store});
        commands.add(new String[] {"--version"});
        commands.add(new String[] {"--help"});
        if (withSql) {
            commands.add(new String[] {"sql", store, "select * from People where name = 'a'"});
            commands.add(new String[] {
                "sql",
                store,
                "select name, count(*), sum(size) from People group by name order by name"
            });
            commands.add(new String[] {"sql", store, "update People set size = 2 where id = 2"});
        }
        return commands;
    }
}
