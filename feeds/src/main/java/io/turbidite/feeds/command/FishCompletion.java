package io.turbidite.feeds.command;

import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

import java.util.ArrayList;
import java.util.List;

/**
 * What lets the shell fish complete commands and their options, out of what {@code --help} says.
 *
 * <p>The script knows each command by its words, such as {@code dataset create}: a function takes
 * from the line what is a command's word, and each offer is made under that condition.
 */
final class FishCompletion {
    private final String name;
    private final List<String> commands = new ArrayList<>();
    private final StringBuilder offers = new StringBuilder();

    private FishCompletion(String name) {
        this.name = name;
    }

    static String of(CommandSpec root) {
        FishCompletion script = new FishCompletion(root.name());
        script.add(root, "");
        return script.text();
    }

    private void add(CommandSpec command, String path) {
        for (OptionSpec option : command.options()) {
            if (!option.hidden()) {
                addOption(option, path);
            }
        }
        command.subcommands().forEach((called, below) -> {
            CommandSpec inner = below.getCommandSpec();
            if (!inner.usageMessage().hidden()) {
                String itsPath = path.isEmpty() ? called : path + " " + called;
                commands.add(itsPath);
                offer(path, " -f -a " + quoted(called), inner.usageMessage().description());
                add(inner, itsPath);
            }
        });
    }

    private void addOption(OptionSpec option, String path) {
        StringBuilder words = new StringBuilder();
        for (String each : option.names()) {
            boolean isLong = each.startsWith("--");
            words.append(isLong ? " -l " : " -s ").append(each.substring(isLong ? 2 : 1));
        }
        if (option.arity().max() > 0) {
            words.append(" -r");
        }
        offer(path, words.toString(), option.description());
    }

    private void offer(String path, String words, String[] description) {
        offers.append("complete -c ")
                .append(name)
                .append(" -n ")
                .append(quoted("__turbidite_at " + quoted(path)))
                .append(words);
        if (description.length > 0) {
            offers.append(" -d ").append(quoted(CommandLine.Help.Ansi.OFF.string(description[0])));
        }
        offers.append('\n');
    }

    private String text() {
        StringBuilder script = new StringBuilder("set -g __turbidite_commands");
        for (String command : commands) {
            script.append(" \\\n    ").append(quoted(command));
        }
        return script.append("""


                # whether the commands on the line so far are those of the argument
                function __turbidite_at
                    set -l path ''
                    for word in (commandline -opc)[2..-1]
                        set -l longer (string trim -- "$path $word")
                        if contains -- "$longer" $__turbidite_commands
                            set path $longer
                        end
                    end
                    test "$path" = "$argv[1]"
                end

                """).append(offers).toString();
    }

    /** For fish a backslash is one within quotes, too. */
    private static String quoted(String text) {
        String plain = text.replace("%n", " ").replace("%%", "%");
        return "'" + plain.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
