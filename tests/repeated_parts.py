"""Documents in which one part of a job stands n times, alike or numbered: what each costs."""
# ruff: noqa: E501 (a row is a line)

import tempfile
from pathlib import Path

from click.testing import CliRunner
from counting import TooManyCalls, calls
from document_commands import FIRST

from sssjob.cli import sssjob

PLAIN = "<Executable>/bin/true</Executable>"


def of_job(inside):
    return f"<Job><Id>a.1</Id>{PLAIN}{inside}</Job>"


def requested(inside):
    return of_job(f"<Requested>{inside}</Requested>")


def in_job(said):
    return lambda n: of_job("".join(map(said, range(n))))


def in_request(said):
    return lambda n: requested("".join(map(said, range(n))))


# fmt: off
REPEATED = {
    "patterns": in_request(lambda i: f'<Node op="Match">fr{i}n.*</Node>'),
    "patterns alike": in_request(lambda i: '<Node op="Match">fr.*</Node>'),
    "patterns Or": in_request(lambda i: f'<Node op="Match" conj="Or">fr{i}n.*</Node>'),
    "range patterns": lambda n: requested('<Processors op="GE">8</Processors><Processors op="LE">16</Processors><Memory op="GE" units="GB">2</Memory><Duration>3600</Duration>' + ''.join(f'<Node op="Match">fr{i}n.*</Node>' for i in range(n)) + '<Feature>ib</Feature>'),
    "user patterns": in_request(lambda i: f'<User op="Match">fr{i}n.*</User>'),
    "nodes": in_request(lambda i: f'<Node>n{i}</Node>'),
    "nodes Or": in_request(lambda i: f'<Node conj="Or">n{i}</Node>'),
    "nodes not": in_request(lambda i: f'<Node op="NE">n{i}</Node>'),
    "nodes ge": in_request(lambda i: f'<Node op="GE">n{i}</Node>'),
    "nodes xor": in_request(lambda i: f'<Node conj="Xor">n{i}</Node>'),
    "nodes nand": in_request(lambda i: f'<Node conj="Nand">n{i}</Node>'),
    "features": in_request(lambda i: f'<Feature>f{i}</Feature>'),
    "features Or": in_request(lambda i: f'<Feature conj="Or">f{i}</Feature>'),
    "features Nand": in_request(lambda i: f'<Feature conj="Nand">f{i}</Feature>'),
    "features not": in_request(lambda i: f'<Feature op="NE">f{i}</Feature>'),
    "features patterns": in_request(lambda i: f'<Feature op="Match">f{i}.*</Feature>'),
    "features pref": in_request(lambda i: f'<Feature preference="{i}">f{i}</Feature>'),
    "features pref-": in_request(lambda i: f'<Feature preference="-{i+1}">f{i}</Feature>'),
    "features Or pref": in_request(lambda i: f'<Feature conj="Or" preference="{i}">f{i}</Feature>'),
    "groups": in_request(lambda i: f'<Feature conj="Or" group="1">f{i}</Feature><Memory group="-1">{i}</Memory>'),
    "groups and": in_request(lambda i: f'<Feature group="1" conj="And">f{i}</Feature><Queue conj="Or" group="-1">q{i}</Queue>'),
    "deep groups": lambda n: requested('<Feature group="1">a</Feature>'*n+'<Feature group="-1" conj="Or">b</Feature>'*n),
    "a deep group": lambda n: requested( f'<Feature group="{n}">a</Feature>' + '<Feature group="-1" conj="Or">b</Feature>'*n),
    "processors": in_request(lambda i: f'<Processors>{i+1}</Processors>'),
    "processors Or": in_request(lambda i: f'<Processors conj="Or">{i+1}</Processors>'),
    "processors Or ge": in_request(lambda i: f'<Processors conj="Or" op="GE">{i+1}</Processors>'),
    "processors bounds": in_request(lambda i: f'<Processors op="GE">{i+1}</Processors><Processors op="LE">{99999-i}</Processors>'),
    "processors NE": in_request(lambda i: f'<Processors op="NE">{i+1}</Processors>'),
    "processors pref": in_request(lambda i: f'<Processors conj="Or" preference="{i}">{i+1}</Processors>'),
    "memory Or": in_request(lambda i: f'<Memory conj="Or" op="GE" units="MB">{i+1}</Memory>'),
    "memory units": in_request(lambda i: f'<Memory op="GE" metric="Total" units="{["KB","MB","GB"][i%3]}">{i+1}</Memory>'),
    "duration Or": in_request(lambda i: f'<Duration conj="Or">{i+1}</Duration>'),
    "nodecount Or": in_request(lambda i: f'<NodeCount conj="Or">{i+1}</NodeCount>'),
    "nodecount": in_request(lambda i: f'<NodeCount>{i+1}</NodeCount>'),
    "taskcount": in_request(lambda i: f'<TaskCount>{i+1}</TaskCount>'),
    "tasks per node": in_request(lambda i: f'<TasksPerNode>{i+1}</TasksPerNode>'),
    "resources": in_request(lambda i: f'<Resource name="r{i}">1</Resource>'),
    "resources Or": in_request(lambda i: f'<Resource name="r{i}" conj="Or">1</Resource>'),
    "licenses": in_request(lambda i: f'<Resource name="r{i}" type="License">1</Resource>'),
    "consumable": in_request(lambda i: f'<Consumable name="r{i}">1</Consumable>'),
    "resources one": in_request(lambda i: f'<Resource name="r">{i}</Resource>'),
    "queues": in_request(lambda i: f'<Queue>q{i}</Queue>'),
    "queues Or": in_request(lambda i: f'<Queue conj="Or">q{i}</Queue>'),
    "machines Or": in_request(lambda i: f'<Machine conj="Or">q{i}</Machine>'),
    "qos Or": in_request(lambda i: f'<QualityOfService conj="Or">q{i}</QualityOfService>'),
    "partition": in_request(lambda i: f'<Partition>q{i}</Partition>'),
    "os Or": in_request(lambda i: f'<OperatingSystem conj="Or">q{i}</OperatingSystem>'),
    "architectures": in_request(lambda i: f'<Architecture>q{i}</Architecture>'),
    "adapters": in_request(lambda i: f'<NetworkAdapter>q{i}</NetworkAdapter>'),
    "reservations": in_request(lambda i: f'<Reservation>q{i}</Reservation>'),
    "software": in_request(lambda i: f'<Application>q{i}</Application>'),
    "disk": in_request(lambda i: f'<Disk conj="Or" op="GE">{i}</Disk>'),
    "swap": in_request(lambda i: f'<Swap>{i}</Swap>'),
    "dynamic": in_request(lambda i: f'<TaskDistribution>{i}</TaskDistribution>'),
    "unknown": in_request(lambda i: f'<x{i}>1</x{i}>'),
    "Requested blocks": in_job(lambda i: f'<Requested><Processors>{i+1}</Processors></Requested>'),
    "Requested blocks of nodes": in_job(lambda i: f'<Requested><Node>n{i}</Node></Requested>'),
    "Delivered blocks": in_job(lambda i: f'<Delivered><Processors>{i+1}</Processors></Delivered>'),
    "dependencies": in_job(lambda i: f'<Dependency>{i}</Dependency>'),
    "dependencies Or": in_job(lambda i: f'<Dependency conj="Or">{i}</Dependency>'),
    "dependencies cond": in_job(lambda i: f'<Dependency condition="OnSuccess" type="JobId">{i}</Dependency>'),
    "dependencies code": in_job(lambda i: f'<Dependency condition="OnExit" code="{i%200}">{i}</Dependency>'),
    "dependencies groups": in_job(lambda i: f'<Dependency conj="Or" group="1">{i}</Dependency><Dependency conj="And" group="-1">x{i}</Dependency>'),
    "dependencies var": in_job(lambda i: f'<Dependency type="Variable" name="v{i}">{i}</Dependency>'),
    "task groups": in_job(lambda i: f'<TaskGroup><Name>t{i}</Name><Requested><TaskCount>1</TaskCount><Processors>1</Processors></Requested></TaskGroup>'),
    "task groups nodes": in_job(lambda i: f'<TaskGroup><Name>t{i}</Name><Requested><TaskCount>1</TaskCount><Node>n{i}</Node></Requested></TaskGroup>'),
    "task groups ids": in_job(lambda i: f'<TaskGroup><Id>t{i}</Id><Requested><NodeCount>1</NodeCount><Feature>f{i}</Feature></Requested><Dependency>t{i-1}</Dependency></TaskGroup>'),
    "task groups or": in_job(lambda i: f'<TaskGroup><Id>t{i}</Id><Requested><Feature>f{i}</Feature><Feature conj="Or">g{i}</Feature></Requested></TaskGroup>'),
    "task groups patterns": in_job(lambda i: f'<TaskGroup><Id>t{i}</Id><Requested><Node op="Match">f{i}.*</Node></Requested></TaskGroup>'),
    "tasks": lambda n: of_job('<TaskGroup><Name>t</Name>' + ''.join(f'<Task><Id>{i}</Id></Task>' for i in range(n)) + '</TaskGroup>'),
    "tasks nodes": lambda n: of_job('<TaskGroup><Name>t</Name>' + ''.join(f'<Task><Id>{i}</Id><Node>n{i}</Node></Task>' for i in range(n)) + '</TaskGroup>'),
    "tasks exec": lambda n: of_job('<TaskGroup><Name>t</Name>' + ''.join(f'<Task><Id>{i}</Id><Executable>a{i}</Executable><Delivered><Processors>1</Processors></Delivered></Task>' for i in range(n)) + '</TaskGroup>'),
    "job tasks": in_job(lambda i: f'<Task><Id>{i}</Id><Node>n{i}</Node></Task>'),
    "taskdefaults": in_job(lambda i: f'<TaskDefaults><User>u{i}</User></TaskDefaults>'),
    "task groupdefaults": in_job(lambda i: f'<TaskGroupDefaults><User>u{i}</User></TaskGroupDefaults>'),
    "variables": lambda n: of_job('<Environment>' + ''.join(f'<Variable name="e{i}">1</Variable>' for i in range(n)) + '</Environment>'),
    "env blocks": in_job(lambda i: f'<Environment><Variable name="e{i}">1</Variable></Environment>'),
    "input": in_job(lambda i: f'<InputFile>f{i}</InputFile>'),
    "output": in_job(lambda i: f'<OutputFile>f{i}</OutputFile>'),
    "limits": in_job(lambda i: f'<ResourceLimit name="CPUTime" type="Soft">{i}</ResourceLimit>'),
    "limits of names": in_job(lambda i: f'<ResourceLimit name="r{i}" type="Hard">{i}</ResourceLimit>'),
    "notifications": in_job(lambda i: '<NotificationList type="Email">JobEnd,JobStart</NotificationList>'),
    "notifications elsewhere": in_job(lambda i: f'<NotificationList uri="mailto:a{i}@b">JobEnd</NotificationList>'),
    "holds": in_job(lambda i: f'<Hold>User{i}</Hold>'),
    "extensions": in_job(lambda i: f'<Extension name="e{i}">1</Extension>'),
    "args": in_job(lambda i: f'<Arguments>a{i}</Arguments>'),
    "users": in_job(lambda i: f'<User>a{i}</User>'),
    "names": in_job(lambda i: f'<Name>a{i}</Name>'),
    "Ids": in_job(lambda i: f'<Id>a{i}</Id>'),
    "global Ids": in_job(lambda i: f'<GlobalId>a{i}</GlobalId>'),
    "states": in_job(lambda i: '<State>Running</State>'),
    "starts": in_job(lambda i: f'<StartTime>{1700000000+i}</StartTime><EndTime>{1700000900+i}</EndTime>'),
    "job nodes": in_job(lambda i: f'<Delivered><Node>n{i}</Node></Delivered>'),
    "delivered nodes": lambda n: of_job('<Delivered>' + ''.join(f'<Node>n{i}</Node>' for i in range(n)) + '</Delivered>'),
    "delivered procs": lambda n: of_job('<Delivered>' + ''.join(f'<Memory>{i}</Memory>' for i in range(n)) + '</Delivered>'),
    "delivered res": lambda n: of_job('<Delivered>' + ''.join(f'<Resource name="r{i}">{i}</Resource>' for i in range(n)) + '</Delivered>'),
    "delivered feat": lambda n: of_job('<Delivered>' + ''.join(f'<Feature>{i}</Feature>' for i in range(n)) + '</Delivered>'),
    "jobs that wait for the last": lambda n: '<Jobs>' + ''.join(f'<Job><Id>{i}</Id><Dependency>{i-1}</Dependency>{PLAIN}</Job>' for i in range(n)) + '</Jobs>',
    "jobs that wait for one": lambda n: '<Jobs>' + ''.join(f'<Job><Id>{i}</Id><Dependency>0</Dependency>{PLAIN}</Job>' for i in range(n)) + '</Jobs>',
    "jobs pat": lambda n: '<Jobs>' + ''.join(f'<Job><Id>{i}</Id>{PLAIN}<Requested><Node op="Match">a{i}.*</Node></Requested></Job>' for i in range(n)) + '</Jobs>',
    "group jobs dep": lambda n: '<JobGroup><Id>g</Id>' + ''.join(f'<Job><Id>{i}</Id><Name>x{i}</Name><Dependency type="Name">x{i-1}</Dependency>{PLAIN}</Job>' for i in range(n)) + '</JobGroup>',
    "groups in groups": lambda n: '<JobGroup><Id>g</Id>' + ''.join(f'<JobGroup><Id>{i}</Id><Job><Id>j{i}</Id>{PLAIN}</Job></JobGroup>' for i in range(n)) + '</JobGroup>',
    "features, both": in_request(lambda i: f'<Feature>f{i}</Feature><Feature op="NE">g{i}</Feature>'),
    "node both": in_request(lambda i: f'<Node>f{i}</Node><Node op="NE">g{i}</Node>'),
    "queue both": in_request(lambda i: f'<Queue conj="Or">f{i}</Queue><Queue op="NE">g{i}</Queue>'),
    "features, patt both": in_request(lambda i: f'<Feature>f{i}</Feature><Feature op="Match">g{i}.*</Feature>'),
    "node nandpatt both": in_request(lambda i: f'<Node>f{i}</Node><Node conj="Nand" op="Match">g{i}.*</Node>'),
    "features, nandpatt both": in_request(lambda i: f'<Feature>f{i}</Feature><Feature conj="Nand" op="Match">g{i}.*</Feature>'),
    "patterns both": in_request(lambda i: f'<Node op="Match">f{i}.*</Node><Node conj="Nand" op="Match">g{i}.*</Node>'),
    "features, liked": in_request(lambda i: f'<Feature preference="-1">f{i}</Feature><Feature op="NE">g{i}</Feature>'),
    "features, liked group": lambda n: requested('<Feature group="1" preference="-1">f</Feature>' + ''.join(f'<Feature preference="-{i+1}">f{i}</Feature>' for i in range(n)) + '<Feature group="-1" preference="-1">e</Feature>' + ''.join(f'<Feature op="NE">f{i}</Feature>' for i in range(n))),
    "node groups or": in_request(lambda i: f'<Node group="1">a{i}</Node><Node conj="Or" group="-1">b{i}</Node>'),
    "features, groups or": in_request(lambda i: f'<Feature group="1">a{i}</Feature><Feature conj="Or" group="-1">b{i}</Feature>'),
    "proc groups or": in_request(lambda i: f'<Processors op="GE" group="1">{i}</Processors><Memory conj="Or" group="-1">{i}</Memory>'),
    "nand features lists": in_request(lambda i: f'<Feature conj="Nand" aggregation="List">a{i},b{i}</Feature>'),
    "feature lists": in_request(lambda i: f'<Feature aggregation="List">a{i},b{i}</Feature>'),
    "feature list": lambda n: requested('<Feature aggregation="List">'+','.join(f'n{i}' for i in range(n)) + '</Feature>'),
    "feature list NE": lambda n: requested('<Feature aggregation="List" op="NE">'+','.join(f'n{i}' for i in range(n)) + '</Feature>' + ''.join(f'<Feature>m{i}</Feature>' for i in range(n))),
    "Node list": lambda n: requested('<Node aggregation="List">'+','.join(f'n{i}' for i in range(n)) + '</Node>'),
    "Node lists": in_request(lambda i: f'<Node aggregation="List">n{i},m{i}</Node>'),
    "Node lists NE": in_request(lambda i: f'<Node op="NE" aggregation="List">n{i},m{i}</Node>'),
    "Node lists Or": in_request(lambda i: f'<Node conj="Or" aggregation="List">n{i},m{i}</Node>'),
    "Node ranges": in_request(lambda i: f'<Node aggregation="Range">n[{i}-{i+9}]</Node>'),
    "Node ranges Or": in_request(lambda i: f'<Node conj="Or" aggregation="Range">n[{i}-{i+9}]</Node>'),
    "Node ranges Nand": in_request(lambda i: f'<Node conj="Nand" aggregation="Range">n[{i}-{i+9}]</Node>'),
    "Node range parts": lambda n: requested('<Node aggregation="Range">'+','.join(f'n{i}[0-1]' for i in range(n)) + '</Node>'),
    "Node counts": in_request(lambda i: f'<Node count="2" aggregation="List">n{i},m{i},k{i}</Node>'),
    "patterns count": in_request(lambda i: f'<Node op="Match" count="2">n{i}.*</Node>'),
    "patterns Nor": in_request(lambda i: f'<Node op="Match" conj="Nor">n{i}.*</Node>'),
    "patterns pref": in_request(lambda i: f'<Node op="Match" preference="{i}">n{i}.*</Node>'),
    "patterns Xor": in_request(lambda i: f'<Feature op="Match" conj="Xor">n{i}.*</Feature>'),
    "job and group ext": lambda n: of_job(''.join(f'<Extension name="e{i}">1</Extension>' for i in range(n)) + '<TaskGroup>' + ''.join(f'<Extension name="f{i}">1</Extension>' for i in range(n)) + '</TaskGroup>'),
    "job and group feat": lambda n: of_job('<Requested>' + ''.join(f'<Feature>f{i}</Feature>' for i in range(n)) + '</Requested><TaskGroup><Requested>' + ''.join(f'<Feature>g{i}</Feature>' for i in range(n)) + '</Requested></TaskGroup>'),
    "job and group node": lambda n: of_job('<Requested>' + ''.join(f'<Node>f{i}</Node>' for i in range(n)) + '</Requested><TaskGroup><Requested>' + ''.join(f'<Node>g{i}</Node>' for i in range(n)) + '</Requested></TaskGroup>'),
    "job and group res": lambda n: of_job('<Requested>' + ''.join(f'<Resource name="a{i}">1</Resource>' for i in range(n)) + '</Requested><TaskGroup><Requested>' + ''.join(f'<Resource name="b{i}">2</Resource>' for i in range(n)) + '</Requested></TaskGroup>'),
    "job and group input": lambda n: of_job(''.join(f'<InputFile>{i}</InputFile>' for i in range(n)) + '<TaskGroup>' + ''.join(f'<InputFile>x{i}</InputFile>' for i in range(n)) + '</TaskGroup>'),
    "job and group vars": lambda n: of_job('<Environment>' + ''.join(f'<Variable name="e{i}">1</Variable>' for i in range(n)) + '</Environment><TaskGroup><Environment>' + ''.join(f'<Variable name="e{i}">2</Variable>' for i in range(n)) + '</Environment></TaskGroup>'),
    "job and group env": lambda n: of_job(''.join(f'<Environment><Variable name="e{i}">1</Variable></Environment>' for i in range(n)) + '<TaskGroup>' + ''.join(f'<Environment><Variable name="f{i}">1</Variable></Environment>' for i in range(n)) + '</TaskGroup>'),
    "job and group deps": lambda n: of_job(''.join(f'<Dependency>{i}</Dependency>' for i in range(n)) + '<TaskGroup>' + ''.join(f'<Dependency>x{i}</Dependency>' for i in range(n)) + '</TaskGroup>'),
    "job and group pat": lambda n: of_job('<Requested>' + ''.join(f'<Node op="Match">f{i}.*</Node>' for i in range(n)) + '</Requested><TaskGroup><Requested>' + ''.join(f'<Node op="Match">g{i}.*</Node>' for i in range(n)) + '</Requested></TaskGroup>'),
    "own and requested": lambda n: of_job(''.join(f'<Feature>f{i}</Feature><Queue>q{i}</Queue>' for i in range(n)) + '<Requested>' + ''.join(f'<Feature>g{i}</Feature>' for i in range(n)) + '</Requested>'),
    "own features": in_job(lambda i: f'<Feature>f{i}</Feature>'),
    "own nodes": in_job(lambda i: f'<Node>f{i}</Node>'),
    "own resources": in_job(lambda i: f'<Resource name="a{i}">1</Resource>'),
    "tasks groups two": lambda n: of_job(''.join(f'<TaskGroup><Name>t{j}</Name><Requested>' + ''.join(f'<Feature>f{j}.{i}</Feature>' for i in range(n)) + '</Requested></TaskGroup>' for j in range(2))),
    "task groups deps": in_job(lambda i: f'<TaskGroup><Name>t{i}</Name><Dependency>t{max(0,i-1)}</Dependency><Executable>a</Executable></TaskGroup>'),
    "task groups same": in_job(lambda i: '<TaskGroup><Name>t</Name><Requested><Node>n</Node></Requested></TaskGroup>'),
    "task groups order": in_job(lambda i: f'<TaskGroup><Id>{i}</Id><Environment><Variable name="a{i}">1</Variable></Environment></TaskGroup>'),
}
# fmt: on

MOST = 2.4
FEW = 3000  # calls, below which nothing is told
ENDLESS = 200_000_000
OFFERS = f"""[{", ".join(f'{{"id": "n{at}", "Processors": 64}}' for at in range(4))}]"""
RECORDS = "JobID|State|ElapsedRaw|NCPUS\n"


def cost(command, document):
    """How many functions a command calls for a document."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "DIRECTORY").mkdir()
        places = {
            "@": document, "OFFERS": OFFERS, "GOOD": FIRST, "RECORDS": RECORDS,
            "DIRECTORY/@.xml": document,
        }  # fmt: skip
        for name, text in places.items():
            Path(folder, name).write_text(text)
        names = {*places, "STORE", "LEDGER", "DIRECTORY"}
        words = [f"{folder}/{word}" if word in names else word for word in command.split()]
        environment = {"XDG_STATE_HOME": folder, "HOME": folder}
        try:
            return calls(lambda: CliRunner().invoke(sssjob, words, env=environment), most=ENDLESS)
        except TooManyCalls:
            return ENDLESS


def grows(command, make, count):
    """By how much the calls grow where there are twice as many, and twice as many again."""
    cost(command, make(1))  # what is made once is made
    least, *found = (cost(command, make(number)) for number in (1, count, 2 * count))
    once, twice = (each - least for each in found)
    if twice < FEW or twice <= MOST * once:
        return None
    again = cost(command, make(4 * count)) - least
    return (twice / max(once, 1), again / twice) if again > MOST * twice else None
