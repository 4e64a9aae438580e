from sweep.errors import SweepError as SweepError
from sweep.notebook.running import run as run
from sweep.notebook.study import LoadedStudy as LoadedStudy
from sweep.notebook.study import compare as compare
from sweep.notebook.study import load as load
from sweep.notebook.study import studies as studies
from sweep.notebook.training import TrainedEpoch as TrainedEpoch
from sweep.notebook.training import config as config
from sweep.notebook.training import train as train
from sweep.training.exported import load_model as load_model

__version__: str
__all__: list[str]
