package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class SqlChangeCommandTest {
    @TempDir
    private Path directory = Path.of("");

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
    }

    private Result sql(Object... options) {
        List<Object> args = new ArrayList<>(List.of("sql", store));
        args.addAll(List.of(options));
        return Command.run(args.toArray());
    }

    private String told(Object... options) {
        Result result = sql(options);
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        return result.out();
    }

    @Test
    void records_are_changed_and_counted() {
        assertThat(told("explain update Trips set note = 'gone' where tail = 'N1'"))
                .contains("by_tail");
        assertThat(told("update Trips set note = 'gone' where tail = 'N1'"))
                .isEqualTo("2 records changed\n");
        assertThat(told("delete from Trips where note = 'gone'", "--json"))
                .isEqualTo("{\"ok\":true,\"changed\":2}\n");
        assertThat(told("select count(*) as n from Trips")).isEqualTo("n\n-\n2\n");
    }

    @Test
    void datasets_are_defined_and_listed() {
        assertThat(told("create dataset Pets (id int64, name string?, primary key (id))"))
                .isEqualTo("done\n");
        assertThat(told("insert into Pets values (1, 'Rex'), (2, null)"))
                .isEqualTo("2 records changed\n");
        assertThat(told("create index by_name on Pets (name)")).isEqualTo("done\n");
        assertThat(told("show indexes on Pets", "--csv")).contains("Pets,by_name,btree,name");
        assertThat(told("describe Pets")).isEqualTo("""
                field  type     sql      role
                -----  -------  -------  -----------
                id     int64    BIGINT   primary key
                name   string?  VARCHAR  null
                """);
        assertThat(told("drop dataset Pets")).isEqualTo("done\n");
        assertThat(sql("select * from Pets").code()).isEqualTo(2);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void a_store_that_another_process_holds_is_changed_by_its_holder() {
        try (Store held = Store.openExisting(store, StoreOptions.defaults())) {
            assertThat(sql("delete from Trips").code()).isNotZero();
            try (StoreServer server = StoreServer.start(held)) {
                assertThat(server.problem()).isEmpty();
                assertThat(told("update Trips set note = 'held' where tail = 'N1'"))
                        .isEqualTo("2 records changed\n");
                assertThat(told("create dataset Pets (id int64, primary key (id))"))
                        .isEqualTo("done\n");
                Result wrong = sql("insert into Pets values ('x')");
                assertThat(wrong.code()).isEqualTo(2);
                assertThat(wrong.errLines()).hasSize(3);
                assertThat(told("show datasets", "--csv")).contains("Pets,id");
            }
            assertThat(held.findDataset("Pets")).isNotNull();
        }
    }

    @Test
    void a_mistake_changes_nothing_and_has_a_place() {
        Result result = sql("update Trips set delay = 'late'");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.errLines().getFirst()).contains("line 1, column 26: field 'delay'");
        Result taken = sql("insert into Trips select * from Trips");
        assertThat(taken.code()).isEqualTo(2);
        assertThat(taken.err()).contains("already has a record with primary key [");
        assertThat(told("select count(*) as n from Trips")).isEqualTo("n\n-\n4\n");
    }
}
