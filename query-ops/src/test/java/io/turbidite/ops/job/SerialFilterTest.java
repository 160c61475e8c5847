package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import javax.tools.ToolProvider;

/** A process of a cluster makes no object but those that jobs are made of. */
class SerialFilterTest {
    private static final List<String> GADGETS = List.of(
            "org.apache.commons.collections4.functors.InvokerTransformer",
            "org.apache.commons.collections4.functors.ChainedTransformer",
            "org.apache.commons.collections4.functors.ConstantTransformer",
            "org.apache.commons.collections4.functors.InstantiateTransformer",
            "org.apache.commons.collections4.functors.TransformerClosure",
            "org.apache.commons.collections4.comparators.TransformingComparator",
            "org.apache.commons.collections4.map.LazyMap",
            "org.apache.commons.collections4.map.TransformedMap",
            "org.apache.commons.collections4.keyvalue.TiedMapEntry",
            "org.apache.commons.collections4.bag.TreeBag",
            "com.fasterxml.jackson.databind.node.POJONode",
            "java.util.PriorityQueue",
            "java.util.TreeMap",
            "java.util.Hashtable",
            "java.net.URL",
            "java.security.SignedObject",
            "java.lang.reflect.Proxy",
            "java.lang.invoke.SerializedLambda",
            "javax.management.BadAttributeValueExpException",
            "java.rmi.server.UnicastRemoteObject",
            "javax.sql.rowset.serial.SerialBlob",
            // what the engine would do for whoever reaches it
            "org.apache.hyracks.control.common.ipc.CCNCFunctions$DeployBinaryFunction",
            "org.apache.hyracks.control.common.ipc.CCNCFunctions$CliDeployBinaryFunction",
            "org.apache.hyracks.api.client.HyracksClientInterfaceFunctions$StartJobFunction",
            "org.apache.hyracks.dataflow.std.file.FileScanOperatorDescriptor",
            "org.apache.hyracks.dataflow.std.file.PlainFileWriterOperatorDescriptor");

    @Test
    void jobs_run_and_nothing_else_is_made(@TempDir Path directory) throws Exception {
        Path jar = deployed(directory);
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                jar + System.getProperty("path.separator") + System.getProperty("java.class.path"),
                FilteredProcess.class.getName(),
                directory.resolve("cluster").toString()));
        List<String> classes = new ArrayList<>();
        for (String name : GADGETS) {
            if (exists(name)) {
                classes.add(name);
            }
        }
        classes.add("org.apache.hyracks.Deployed");
        assertThat(classes).hasSizeGreaterThanOrEqualTo(21);
        command.addAll(classes);
        Path out = directory.resolve("out.txt");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        try {
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        List<String> expected = new ArrayList<>(List.of(
                "early: a process of a cluster needs the filter of Java serialization: call"
                        + " SerialFilter.install() before anything else in it is deserialized",
                "rows 13",
                "failed IllegalStateException"));
        classes.forEach(name -> expected.add("refused " + name));
        assertThat(Files.readAllLines(out, StandardCharsets.UTF_8)).containsAll(expected);
    }

    private static boolean exists(String name) {
        try {
            return Class.forName(name, false, SerialFilterTest.class.getClassLoader()) != null;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** A class that a client would have deployed, by a name that is the engine's. */
    private static Path deployed(Path directory) throws IOException {
        Path source = directory.resolve("Deployed.java");
        Files.writeString(
                source,
                "package org.apache.hyracks; public class Deployed implements java.io.Serializable {}");
        Path classes = Files.createDirectories(directory.resolve("deployed"));
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-d", classes.toString(), source.toString()))
                .isZero();
        return classes;
    }
}
