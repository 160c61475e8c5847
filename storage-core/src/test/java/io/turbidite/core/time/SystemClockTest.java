package io.turbidite.core.time;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

class SystemClockTest {
    @Test
    void the_time_of_a_thread_goes_on_where_the_application_has_switched_it_off() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        boolean before = threads.isThreadCpuTimeEnabled();
        threads.setThreadCpuTimeEnabled(false);
        try {
            long from = Clock.system().threadNanos();
            assertThat(from).isNotEqualTo(-1);
            assertThat(Clock.system().threadNanos()).isGreaterThanOrEqualTo(from);
        } finally {
            threads.setThreadCpuTimeEnabled(before);
        }
    }
}
