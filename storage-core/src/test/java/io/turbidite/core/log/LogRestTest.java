package io.turbidite.core.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A log at rest of which nothing is needed gives its space back, and takes it again. */
@Timeout(60)
@LeaksOnPurpose("logs that a power cut ends have nobody who closes them")
class LogRestTest {
    private final LogOracle oracle = new LogOracle();
    private final SimDisk disk = new SimDisk(3, Profile.STRICT);

    private LogDriver open(Durability durability) {
        disk.createDirectories("log");
        disk.syncDirectory("");
        LogDriver driver =
                new LogDriver(3, disk, LogDriver.TINY.withDurability(durability), oracle);
        driver.resume();
        return driver;
    }

    private long bytes() {
        SimDisk seen = disk.copy(); // the log's files are locked
        long bytes = 0;
        for (String name : seen.list("log")) {
            try (DiskFile file = seen.openReadOnly("log/" + name)) {
                bytes += file.size();
            }
        }
        return bytes;
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void a_log_that_is_not_needed_takes_a_small_segment(Durability durability) {
        LogDriver driver = open(durability);
        fill(driver);
        driver.rest();
        assertThat(bytes()).isGreaterThan(Segment.CLOSING_BYTES); // its records are needed
        driver.truncate();
        driver.rest();
        assertThat(bytes()).isEqualTo(Segment.CLOSING_BYTES);
        driver.rest();
        assertThat(bytes()).isEqualTo(Segment.CLOSING_BYTES);
        cutPower(durability);
        fill(driver);
        driver.flush();
        assertThat(bytes()).isGreaterThanOrEqualTo(driver.options.segmentBytes());
        cutPower(durability);
        driver.truncate();
        driver.rest();
        assertThat(bytes()).isEqualTo(Segment.CLOSING_BYTES);
        driver.close();
        driver.resume();
        driver.append(10);
        driver.close();
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void the_first_record_is_refused_where_there_is_no_space_again(Durability durability) {
        LogDriver driver = open(durability);
        fill(driver);
        driver.truncate();
        driver.rest();
        assertThat(bytes()).isEqualTo(Segment.CLOSING_BYTES);
        disk.capacity(disk.usedBytes());
        assertThatThrownBy(() -> driver.append(10))
                .isInstanceOfSatisfying(
                        StorageIoException.class,
                        e -> assertThat(e.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE));
        cutPower(durability);
        disk.capacity(Long.MAX_VALUE);
        driver.tasks().runForMicros(1_000_000);
        driver.append(10);
        driver.flush();
        cutPower(durability);
        driver.close();
    }

    @Test
    void a_sync_is_not_kept_waiting_by_it() {
        LogDriver driver = open(Durability.PROCESS);
        fill(driver);
        driver.truncate();
        driver.rest();
        driver.sync();
        driver.append(10);
        driver.sync();
        driver.close();
    }

    private static void fill(LogDriver driver) {
        for (int i = 0; i < 100; i++) {
            driver.append(60);
        }
    }

    /** What was acknowledged is there, and nothing is missing behind it. */
    private void cutPower(Durability durability) {
        for (Profile profile : Profile.values()) {
            LogOracle own = new LogOracle();
            own.moveStart(oracle.start());
            LogOptions options = LogDriver.TINY.withDurability(durability);
            LogDriver reader = new LogDriver(7, disk.crashImage(3, profile), options, own);
            oracle.check(reader.open());
            reader.close();
        }
    }
}
