package io.turbidite.feeds.command.server;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.RealDisk;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.RuntimeOptions;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreRuntime;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The stores that a server was given, opened. <em>Confined to one thread.</em>
 *
 * <p>They share one runtime: with ten stores the server takes no more memory than with one. A store
 * has the name that stands before an equals sign, or that of its directory.
 */
final class OpenStores implements AutoCloseable {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}");

    private final Map<String, Store> stores = new LinkedHashMap<>();

    private final StoreRuntime runtime = StoreRuntime.create(RuntimeOptions.defaults());

    private OpenStores() {}

    /**
     * Opens stores that there are.
     *
     * @param given each {@code DIR} or {@code NAME=DIR}
     * @throws InvalidRequestException if two have one name, or one is none; all are closed then
     */
    static OpenStores open(List<String> given) {
        Map<String, StoreArgument> arguments = new LinkedHashMap<>();
        for (int i = 0; i < given.size(); i++) {
            String one = given.get(i);
            int equals = one.indexOf('=');
            boolean isNamed =
                    equals > 0 && NAME.matcher(one.substring(0, equals)).matches();
            StoreArgument argument = StoreArgument.of(isNamed ? one.substring(equals + 1) : one);
            String name = isNamed ? one.substring(0, equals) : nameOf(argument.path());
            boolean isWrong = !NAME.matcher(name).matches()
                    || name.equals("..")
                    || (!isNamed && pathOf(argument) != argument);
            if (isWrong) {
                throw new InvalidRequestException(
                        "store %s needs a name of up to 64 letters, digits, '_', '-' and '.': write NAME=%s"
                                .formatted(
                                        argument.directory(), pathOf(argument).shellWord()));
            }
            checkQuoted(argument, given.subList(i + 1, given.size()));
            if (!Files.exists(argument.path())) {
                throw new InvalidRequestException(
                        "%s does not exist; ./turbidite dataset create and run make a store"
                                .formatted(argument.directory()));
            }
            if (arguments.put(name, argument) != null) {
                throw new InvalidRequestException(
                        "two stores are called %s: give one another name, NAME=DIR"
                                .formatted(name));
            }
        }
        OpenStores open = new OpenStores();
        try (Undo undo = Undo.of(open::close)) {
            arguments.forEach(
                    (name, argument) -> open.stores.put(name, argument.openToChange(open.runtime)));
            return undo.keep(open);
        }
    }

    /** What stands behind the sign, if there is a store, so that what stands before is no name. */
    private static StoreArgument pathOf(StoreArgument whole) {
        int equals = whole.directory().indexOf('=');
        String path = whole.directory().substring(equals + 1);
        return equals > 0
                        && !path.isEmpty()
                        && !RealDisk.isDirectory(whole.path())
                        && RealDisk.isDirectory(StoreArgument.of(path).path())
                ? StoreArgument.of(path)
                : whole;
    }

    /** A shell makes several arguments of a path with spaces that is not in quotes. */
    private static void checkQuoted(StoreArgument argument, List<String> next) {
        if (RealDisk.isDirectory(argument.path())) {
            return;
        }
        String whole = argument.directory();
        for (String word : next) {
            whole += " " + word;
            StoreArgument longer = StoreArgument.of(whole);
            if (RealDisk.isDirectory(longer.path())) {
                throw new InvalidRequestException(
                        "%s does not exist; a path with spaces stands in quotes: NAME=%s"
                                .formatted(argument.directory(), longer.shellWord()));
            }
        }
    }

    private static String nameOf(Path path) {
        Path last = path.toAbsolutePath().normalize().getFileName();
        return last == null ? "" : last.toString();
    }

    Map<String, Store> all() {
        return new LinkedHashMap<>(stores);
    }

    /** Closes all, also if one fails; then what they shared. */
    @Override
    public void close() {
        new Cleanup()
                .addAll(List.copyOf(stores.values()), Store::close)
                .add(runtime::close)
                .run();
    }
}
