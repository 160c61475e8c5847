package io.turbidite.feeds.command.common;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.ShellWord;
import io.turbidite.feeds.StoreDefaults;
import io.turbidite.feeds.log.DirectoryKind;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreRuntime;

import picocli.CommandLine.Parameters;

import java.nio.file.Path;

/**
 * The argument STORE, which leads to a store that is there: all commands but those that make one
 * open theirs here. <em>Set by the parser.</em>
 */
public final class StoreArgument {
    @Parameters(index = "0", paramLabel = "STORE", description = "Directory of the store.")
    private String directory = "";

    /** As it is given in another place than the first. */
    public static StoreArgument of(String directory) {
        StoreArgument argument = new StoreArgument();
        argument.directory = directory;
        return argument;
    }

    /** As the user wrote it. */
    public String directory() {
        return directory;
    }

    /** As it may be pasted into a shell. */
    public String shellWord() {
        return ShellWord.of(directory);
    }

    /**
     * The path, whether or not there is something.
     *
     * @throws InvalidRequestException if it is none
     */
    public Path path() {
        return PathArgument.path("STORE", directory);
    }

    /**
     * Opens the store to be read; no byte of it changes.
     *
     * @throws InvalidRequestException if there is none; nothing is created
     */
    public Store openForReading() {
        return Store.openForReading(checkedPath(), StoreDefaults.options());
    }

    /**
     * Opens the store to be changed.
     *
     * @throws InvalidRequestException if there is none; nothing is created
     */
    public Store openToChange() {
        return Store.openExisting(checkedPath(), StoreDefaults.options());
    }

    /**
     * Opens the store to be changed, beside others of the runtime.
     *
     * @throws InvalidRequestException if there is none; nothing is created
     */
    public Store openToChange(StoreRuntime runtime) {
        return Store.openExisting(checkedPath(), StoreDefaults.options().withRuntime(runtime));
    }

    /**
     * The path, of what is no hash log.
     *
     * @throws InvalidRequestException if it is none, or leads to one
     */
    public Path checkedPath() {
        Path path = path();
        DirectoryKind.checkNoLog(path);
        return path;
    }

    /**
     * A dataset of a user's, to be changed.
     *
     * @throws InvalidRequestException if there is none of that name, or it is one that the store
     *     keeps for itself
     */
    public static Dataset usersDataset(Store store, String name) {
        if (name.startsWith("_")) {
            throw new InvalidRequestException(
                    "dataset %s is the store's own, as all whose names begin with '_': no command changes it"
                            .formatted(name));
        }
        return store.dataset(name);
    }
}
