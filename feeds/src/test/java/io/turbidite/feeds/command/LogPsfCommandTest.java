package io.turbidite.feeds.command;

import static io.turbidite.feeds.command.LogCalls.assertRefused;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;

/** PSFs that come, go and are indexed by command. */
class LogPsfCommandTest {
    @TempDir
    private Path directory;

    private Path log;
    private LogCalls calls;

    @BeforeEach
    void write() throws IOException {
        calls = LogCalls.in(directory);
        log = calls.log();
    }

    @Test
    void psfs_come_and_go() {
        calls.ingest();
        Result added = calls.log("psf", "add");
        assertThat(added.code()).isEqualTo(ExitCode.USAGE);
        Object[] add = {"log", "psf", "add", log, "type=field(type)", "big=where(size > 5)"};
        assertThat(Command.run(add).code()).isZero();
        calls.ingest();
        // the first half by scan, the second by chain
        assertThat(calls.log("query", "--psf", "big=true", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(4);
        assertThat(Command.run("log", "psf", "remove", log, "big").code()).isZero();
        Result list = Command.run("log", "psf", "list", log, "--json");
        assertThat(list.json(0).path("active").asBoolean()).isTrue();
        assertThat(list.json(1).path("active").asBoolean()).isFalse();
        assertThat(list.json(1).path("intervals").get(0)).hasSize(2);
        assertRefused(Command.run("log", "psf", "remove", log, "big"), "no PSF 'big'");
        assertRefused(Command.run("log", "psf", "change", log, "big"), "list, add, remove, index");
    }

    @Test
    void a_psf_with_hot_values_has_several_chains() {
        calls.ingest();
        assertThat(Command.run("log", "psf", "add", log, "--chains", "4", "type=field(type)")
                        .out())
                .contains("registered, 4 chains a value");
        calls.ingest();
        assertThat(calls.log("query", "--psf", "type=push", "--count")
                        .json()
                        .path("count")
                        .asInt())
                .isEqualTo(6);
        assertRefused(
                Command.run("log", "psf", "add", log, "--chains", "3", "x=field(id)"), "3 chains");
    }

    @Test
    void what_came_before_a_psf_is_indexed_by_request() {
        calls.ingest();
        assertThat(Command.run("log", "psf", "add", log, "type=field(type)").code())
                .isZero();
        Result scan = calls.log("query", "--psf", "type=push", "--explain");
        assertThat(scan.err()).contains("scan of addresses", "looked at 5 records");
        Result index = Command.run("log", "psf", "index", log, "type");
        assertThat(index.code()).as(index.err()).isZero();
        assertThat(index.out()).contains("; by runs ");
        Result run = calls.log("query", "--psf", "type=push", "--explain");
        assertThat(run.out()).isEqualTo(scan.out());
        assertThat(run.err()).contains("run of PSF 0", "looked at 0 records and 3 key pointers");
        assertThat(calls.log("inspect", "--json").json().path("psfs").get(0).path("runs"))
                .hasSize(1);
        assertRefused(Command.run("log", "psf", "index", log, "big"), "no PSF 'big'");
    }
}
