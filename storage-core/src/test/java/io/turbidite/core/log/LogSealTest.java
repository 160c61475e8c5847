package io.turbidite.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A close that was cut short behind its seal: memory shows the seal, the disk need not have it. */
@Timeout(60)
@LeaksOnPurpose("logs whose close failed have nobody who closes them")
class LogSealTest {
    /** Steps of a frame's alignment over more than a sector: some seals lie at the end of one. */
    private static final int LENGTHS = 80;

    private static final int SEEDS = 20;

    private LogOracle oracle = new LogOracle();

    /** What the manifest names must be there after a power cut, or the store can't be opened. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void aPositionIsNotBehindASealThatOnlyMemoryHas(Durability durability) {
        for (int seed = 0; seed < SEEDS; seed++) {
            SimDisk disk = new SimDisk(seed, Profile.STRICT);
            LogDriver driver = sealedInMemoryAlone(disk, durability, 40);
            driver.resume();
            driver.truncate();
            requireAll(disk, durability);
            driver.close();
            requireAll(disk, durability);
        }
    }

    /** The next session's records are behind the seal: without it they would be behind a gap. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void recordsBehindASealThatOnlyMemoryHasSurviveAPowerCut(Durability durability) {
        for (int i = 0; i < LENGTHS * SEEDS; i++) {
            SimDisk disk = new SimDisk(i, Profile.STRICT);
            int length = i % LENGTHS * FrameFormat.ALIGNMENT;
            LogDriver driver = sealedInMemoryAlone(disk, durability, length);
            driver.resume();
            driver.append(40);
            driver.flush();
            requireAll(disk, durability);
            driver.close();
        }
    }

    /** The process that was to sync the seal has seen its sync fail. */
    private LogDriver sealedInMemoryAlone(SimDisk disk, Durability durability, int length) {
        oracle = new LogOracle();
        disk.createDirectories("log");
        disk.syncDirectory("");
        LogOptions options = LogDriver.TINY.withDurability(durability);
        LogDriver driver = new LogDriver(7, disk, options, oracle);
        driver.resume();
        driver.append(length);
        driver.flush();
        FaultScript script =
                disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC).forever());
        driver.closeAnyhow();
        assertThat(script.hitCount()).isPositive();
        disk.clearFaults();
        return driver;
    }

    private void requireAll(SimDisk disk, Durability durability) {
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
