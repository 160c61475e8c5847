package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.jdbc.TurbiditeDriver;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** What lies outside: files and classes are out of reach, libraries are named where they lack. */
class OutsideTest {
    private static final String CLASS = "io.turbidite.ops.sql.OutsideTest";
    private static boolean isCalled;

    @TempDir
    Path directory;

    /** What a statement must not reach. */
    public static long called() {
        isCalled = true;
        return 1;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select * from 'FILE'",
                "select * from \"FILE\"",
                "select * from read_csv('FILE')",
                "select * from table(read_text('FILE'))",
                "select read_text('FILE')",
                "select load_file('FILE')",
                "select pg_read_file('FILE')",
                "select xmlparse('FILE')",
                "select * from People union select * from csvread('FILE')",
                "copy People from 'FILE'",
                "copy People to 'FILE'",
                "select * from People into outfile 'FILE'",
                "load 'FILE'",
                "attach 'FILE' as x",
                "create table x as select * from 'FILE'",
                "create function called as 'CLASS.called'",
                "create alias called for \"CLASS.called\"",
                "call CLASS.called()",
                "call \"CLASS\".called()",
                "select CLASS.called()",
                "select \"CLASS.called\"()",
                "select * from table(CLASS.called())",
                "select java.lang.System.getenv('HOME')",
                "select {fn CLASS.called()}",
                "set \"calcite.default.charset\" = 'FILE'",
                "alter system set model = 'FILE'",
                "explain plan for select CLASS.called()",
                "select * from metadata.\"TABLES\"",
                "select * from information_schema.\"TABLES\"",
            })
    void a_statement_reads_no_file_and_calls_no_class(String form) throws IOException {
        Path file = Files.writeString(directory.resolve("it.csv"), "secret\n1\n");
        String text = form.replace("FILE", file.toString()).replace("CLASS", CLASS);
        assertThatThrownBy(() -> new People().sql().statement(text).run())
                .as(text)
                .isInstanceOf(SqlException.class)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
        assertThat(isCalled).isFalse();
        assertThat(directory).isDirectoryNotContaining(path -> !path.equals(file));
        assertThat(file).hasContent("secret\n1\n");
    }

    /** What is on the class path, but for what lies in places with such names. */
    private static URLClassLoader without(String leftOut) throws IOException {
        List<URL> others = new ArrayList<>();
        for (String part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!part.contains(leftOut)) {
                others.add(Path.of(part).toUri().toURL());
            }
        }
        return new URLClassLoader(others.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    @Test
    void a_store_needs_the_module_that_opens_it() throws Exception {
        try (URLClassLoader loader = without("storage-lsm")) {
            Class<?> catalog = loader.loadClass(OpenCatalog.class.getName());
            assertThatThrownBy(() -> catalog.getMethod("open", Path.class, boolean.class)
                            .invoke(null, directory, true))
                    .isInstanceOf(InvocationTargetException.class)
                    .cause()
                    .hasMessage(
                            "a store is opened by io.turbidite:turbidite-storage-lsm, which is not on the class path");
            Driver driver = (Driver) loader.loadClass(TurbiditeDriver.class.getName())
                    .getConstructor()
                    .newInstance();
            assertThatThrownBy(
                            () -> driver.connect("jdbc:turbidite:" + directory, new Properties()))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"))
                    .hasMessageContaining("io.turbidite:turbidite-storage-lsm");
        }
    }

    @Test
    void statements_need_the_library_that_reads_them() throws Exception {
        try (URLClassLoader loader = without("calcite-")) {
            Class<?> source = loader.loadClass(Source.class.getName());
            Class<?> sql = loader.loadClass(Sql.class.getName());
            Object none = Array.newInstance(source, 0);
            Object asked = sql.getMethod("on", none.getClass()).invoke(null, none);
            assertThat(asked.getClass().getClassLoader()).isSameAs(loader);
            assertThatThrownBy(() ->
                            sql.getMethod("statement", String.class).invoke(asked, "select 1"))
                    .isInstanceOf(InvocationTargetException.class)
                    .cause()
                    .hasMessage(
                            "SQL needs org.apache.calcite:calcite-babel, which is not on the class path");
        }
    }
}
