/** The command as a process of its own: signals, and two processes on one store. */
@NullMarked
package io.turbidite.it.command;

import org.jspecify.annotations.NullMarked;
