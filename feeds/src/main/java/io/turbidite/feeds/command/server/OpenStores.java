package io.turbidite.feeds.command.server;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.RuntimeOptions;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreRuntime;

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
        for (String one : given) {
            int equals = one.indexOf('=');
            boolean isNamed =
                    equals > 0 && NAME.matcher(one.substring(0, equals)).matches();
            StoreArgument argument = StoreArgument.of(isNamed ? one.substring(equals + 1) : one);
            String name = isNamed ? one.substring(0, equals) : nameOf(argument.path());
            if (!NAME.matcher(name).matches() || name.equals("..")) {
                throw new InvalidRequestException(
                        "store %s needs a name of up to 64 letters, digits, '_', '-' and '.': write NAME=%s"
                                .formatted(argument.directory(), argument.directory()));
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
