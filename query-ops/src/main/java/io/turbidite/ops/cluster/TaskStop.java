package io.turbidite.ops.cluster;

import org.apache.hyracks.control.common.work.SynchronizableWork;
import org.apache.hyracks.control.nc.Joblet;
import org.apache.hyracks.control.nc.NodeControllerService;
import org.apache.hyracks.control.nc.Task;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ends the tasks of a node before the engine stops its threads: a task that is at work then waits
 * for a thread that it does not get, for ever. On the thread by which the engine gives work to its
 * node.
 */
final class TaskStop extends SynchronizableWork {
    private static final int WAIT_MILLIS = 5_000;
    private static final int LOOK_MILLIS = 5;

    private final NodeControllerService service;
    private final List<Task> tasks = new ArrayList<>();

    private TaskStop(NodeControllerService service) {
        this.service = service;
    }

    /** Orders all tasks of a node to end, and waits for it, some seconds at most. */
    static void run(NodeControllerService service) throws Exception {
        TaskStop stop = new TaskStop(service);
        service.getWorkQueue().scheduleAndSync(stop);
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < WAIT_MILLIS / LOOK_MILLIS; i++) {
            stop.tasks.removeIf(Task::isCompleted);
            if (stop.tasks.isEmpty() || never.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    @Override
    protected void doRun() {
        for (Joblet joblet : service.getJobletMap().values()) {
            for (Task task : joblet.getTaskMap().values()) {
                task.abort();
                tasks.add(task);
            }
        }
    }
}
