"""Slaves of a Modbus RTU bus by pymodbus: the port is the argument, the registers a line of JSON on stdin,
[{"slave": 1, "table": "input", "register": 100, "type": "f32", "words": "low-first", "value": 1.5}, ...].
Every write is a line of JSON on stdout, after the line "ready". Ends with stdin."""
import asyncio
import json
import sys
import threading

from pymodbus.constants import Endian
from pymodbus.datastore import ModbusServerContext, ModbusSlaveContext, ModbusSparseDataBlock
from pymodbus.payload import BinaryPayloadBuilder
from pymodbus.server.async_io import ModbusSerialServer
from pymodbus.transaction import ModbusRtuFramer


class Block(ModbusSparseDataBlock):
    """Registers that say when they are written."""

    slave = 0
    told = False

    def setValues(self, address, values, *args, **kwargs):
        super().setValues(address, values, *args, **kwargs)
        if self.told:
            print(json.dumps({"slave": self.slave, "register": address, "values": list(values)}), flush=True)


def registers(entry):
    b = BinaryPayloadBuilder(byteorder=Endian.Big, wordorder=Endian.Big if entry["words"] == "high-first" else Endian.Little)
    add = {"u16": b.add_16bit_uint, "i16": b.add_16bit_int, "u32": b.add_32bit_uint, "i32": b.add_32bit_int,
           "f32": b.add_32bit_float, "f64": b.add_64bit_float}[entry["type"]]
    add(entry["value"] if entry["type"][0] == "f" else int(entry["value"]))
    return b.to_registers()


def main():
    slaves = {}
    for entry in json.loads(sys.stdin.readline()):
        tables = slaves.setdefault(entry["slave"], {"holding": {}, "input": {}})
        for k, v in enumerate(registers(entry)):
            tables[entry["table"]][entry["register"] + k] = v
    contexts = {}
    for slave, tables in slaves.items():
        holding = Block(tables["holding"] or {65535: 0})
        holding.slave, holding.told = slave, True
        contexts[slave] = ModbusSlaveContext(hr=holding, ir=Block(tables["input"] or {65535: 0}), zero_mode=True)

    async def serve():
        server = ModbusSerialServer(ModbusServerContext(slaves=contexts, single=False), framer=ModbusRtuFramer,
                                    port=sys.argv[1], baudrate=115200, parity="N", stopbits=1, bytesize=8,
                                    ignore_missing_slaves=True)
        await server.start()
        print('"ready"', flush=True)
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(over.set)), daemon=True).start()
        await over.wait()

    asyncio.run(serve())


main()
