package io.turbidite.feeds.command.log;

import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.HashLogOptions;

import picocli.CommandLine.Parameters;

/** The argument LOGDIR: all commands on a log open it here. <em>Set by the parser.</em> */
final class LogArgument {
    @Parameters(index = "0", paramLabel = "LOGDIR", description = "Directory of the log.")
    private String directory = "";

    /** As it is given in another place than the first. */
    static LogArgument of(String directory) {
        LogArgument argument = new LogArgument();
        argument.directory = directory;
        return argument;
    }

    /** As the user wrote it. */
    String directory() {
        return directory;
    }

    /** Opens the log to be read; no file in it changes but the lock's. */
    OpenLog openForReading() {
        return OpenLog.openForReading(PathArgument.path("LOGDIR", directory), OpenLog.defaults());
    }

    /** Opens a log that is there to be changed. */
    OpenLog openToChange() {
        return OpenLog.openExisting(PathArgument.path("LOGDIR", directory), OpenLog.defaults());
    }

    /** Opens the log to be written, or makes one. */
    OpenLog openOrCreate(HashLogOptions options) {
        return OpenLog.openOrCreate(PathArgument.path("LOGDIR", directory), options);
    }
}
