package io.turbidite.hashlog.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DeviceProfileTest {
    @Test
    void starts_with_the_figure_of_the_release() {
        assertThat(new DeviceProfile().gapBytes()).isEqualTo(138_240);
    }

    @Test
    void learns_latency_and_throughput_of_the_device() {
        DeviceProfile device = new DeviceProfile();
        for (int i = 0; i < 200; i++) {
            device.note(4_096, 100_000); // 100 us
            device.note(1 << 20, (1 << 20) / 2); // 2 GB/s
        }
        assertThat(device.gapBytes()).isCloseTo(200_000, within(1_000.0));
    }

    @Test
    void stays_within_bounds_whatever_the_clock_says() {
        DeviceProfile device = new DeviceProfile();
        device.note(4_096, Long.MAX_VALUE / 2);
        device.note(1 << 20, 1);
        assertThat(device.gapBytes()).isEqualTo(4 << 20);
        DeviceProfile frozen = new DeviceProfile();
        frozen.note(4_096, 0);
        frozen.note(1 << 20, 0);
        assertThat(frozen.gapBytes()).isEqualTo(138_240);
    }
}
