package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.LogSalvage;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.SoundRecords.Loss;
import io.turbidite.hashlog.parse.ParserSpec;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Salvages a damaged log of a directory into a new one of another. Static, without state. */
public final class Salvage {
    private Salvage() {}

    /**
     * Reads what is sound of the log in {@code from} into a new log in {@code to}.
     *
     * @param parser how records are read, where the log does not say it any more; or null
     * @param losses is told each loss
     * @throws InvalidRequestException if there is no log in {@code from}, or one in {@code to}
     */
    public static LogSalvage.Result run(
            Path from,
            Path to,
            @Nullable ParserSpec parser,
            Consumer<Loss> losses,
            BooleanSupplier stopped) {
        RealDisk.checkDirectory(from);
        DirectoryKind.checkNoStore(from);
        if (from.toAbsolutePath().normalize().equals(to.toAbsolutePath().normalize())) {
            throw new InvalidRequestException(
                    "%s is the damaged log: name another directory for the new one".formatted(to));
        }
        try (Tasks tasks = ThreadTasks.create("salvage")) {
            LogSite site = new LogSite(
                    from.toString(),
                    RealDisk.open(from),
                    "log",
                    tasks,
                    Clock.system(),
                    MemoryBudget.of(1 << 20),
                    new Meters(),
                    new StoreEvents());
            try (LogSalvage salvage = LogSalvage.open(site, parser);
                    OpenLog target =
                            OpenLog.create(to, salvage.targetOptions(OpenLog.defaults()))) {
                if (salvage.registryDamage() != null) {
                    losses.accept(new Loss(
                            0,
                            0,
                            from + "/HASHLOG",
                            "the registry is lost: PSFs are to be added anew, records are read as %s"
                                    .formatted(salvage.parser().text())));
                }
                return salvage.copy(target.log(), losses, stopped);
            }
        }
    }
}
